// Package rest holds what the services and the scripted transport share: the
// errors of the services in their wire forms, bounded request bodies, request ids,
// text in XML, requests carried out without a socket, and the side channel that
// runs beside an HTTP request between whoever sends it and the service that
// carries it out.
package rest
