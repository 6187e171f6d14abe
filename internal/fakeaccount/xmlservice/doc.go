// Package xmlservice holds what the services that speak XML share: the Queue and
// Blob services, and the access policies and service properties of the Table
// service. It has documents, headers of answers, parameters, metadata, stored access
// policies, service properties, checksums and ETags.
//
// Time comes from time.Now only, so that testing/synctest controls it.
package xmlservice
