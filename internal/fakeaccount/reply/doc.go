// Package reply holds how the services answer: errors in their wire forms, the
// headers of every answer, text in XML, and a ResponseWriter in memory.
package reply
