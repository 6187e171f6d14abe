// Package reply contains the parts of the services' replies: errors in their wire forms, the
// headers of every reply, text in XML, and a ResponseWriter in memory.
package reply
