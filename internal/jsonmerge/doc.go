// Package jsonmerge changes a part of a JSON text and leaves the rest of the text as it is.
//
// A program decodes a text into a Go type, which may not have all of its members, changes the
// value and encodes it. Merge applies what differs between the encodings before and after the
// change to the text. Members that both encodings lack stay. What is equal in both keeps its
// text: the spelling of numbers and strings, the order of members, white space.
package jsonmerge
