package azerr

// Module is in the signature of a method that only this module can implement, because no other can
// name it.
type Module struct{}
