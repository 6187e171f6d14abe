package queue

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

const (
	// maxText is the size of a message in bytes of UTF-8.
	maxText = 64 << 10
	// maxBody is what maxText can grow to when each byte is written as a
	// reference, with room for the elements around it.
	maxBody = 8*maxText + 1<<10
)

// readText reads the MessageText of a put or an update. Markup inside the text is
// removed, as documented; characters that XML cannot hold make the document
// invalid.
func readText(c *restxml.Call) (string, *restxml.Error) {
	body, e := c.Body(maxBody)
	if e != nil {
		return "", e
	}
	root, e := restxml.ParseXML(body, "QueueMessage")
	if e != nil {
		return "", e
	}
	text := root.Kid("MessageText")
	if text == nil {
		return "", restxml.MissingXML("MessageText")
	}
	if len(text.Text) > maxText {
		return "", restxml.Refuse(http.StatusBadRequest, "MessageTooLarge", "The message exceeds the maximum allowed size.", "MaxLimit", "65536")
	}
	return text.Text, nil
}
