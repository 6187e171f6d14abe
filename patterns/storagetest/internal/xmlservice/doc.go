// Package xmlservice contains the common parts of the services that use XML: the Queue and
// Blob services, and the access policies and service properties of the Table service. These
// parts are documents, headers of replies, parameters, metadata, stored access policies,
// service properties, checksums and ETags.
//
// The time is that of the request, which testing/synctest controls.
package xmlservice
