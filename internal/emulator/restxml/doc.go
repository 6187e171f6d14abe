// Package restxml holds what the in-process storage services have in common on the
// wire: headers of every answer, errors in the service's XML form, query and
// header rules, metadata, stored access policies, service properties, ETags.
//
// It knows nothing of authentication, accounts or injected faults. Time comes
// from time.Now only, so that testing/synctest gives it virtual time.
package restxml
