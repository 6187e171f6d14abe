package pages

import "encoding/json"

// SealJSON returns the text of a cursor like [SealCursor]. The position is stored as JSON.
func SealJSON(position any, url string, bounds ...string) (string, error) {
	text, err := json.Marshal(position)
	return SealCursor(text, url, bounds...), err
}

// OpenJSON decodes a text that SealJSON returned for the same table and bounds into position, which it
// leaves as it is for "". It returns false for any other text. url may be "", if it is not known.
func OpenJSON(text string, position any, url string, bounds ...string) bool {
	c, ok := OpenCursor(text, bounds...)
	return ok && (url == "" || c.Of(url)) && (text == "" || json.Unmarshal(c.Position, position) == nil)
}
