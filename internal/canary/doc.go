// Package canary tests that no error, log, event or poison reason contains a key or a value: keys, properties and
// payloads contain texts that occur nowhere else, every exported call fails in every way, and all output is searched.
package canary
