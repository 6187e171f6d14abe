// Package canary tests that no error, log, event or poison reason contains a key or a value: keys, properties and
// payloads contain texts that occur nowhere else, every exported call fails in every way, and all output is searched.
//
// Methods are found by reflection, and called with each canary that fits a parameter. Functions are listed, because
// reflection cannot list them; the test fails if one that returns an error is missing.
package canary
