package queue

import (
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

const (
	// maxText is the largest text of a message, in bytes of UTF-8.
	maxText = 64 << 10
	// maxBody is enough for maxText with each byte written as a character
	// reference, and for the elements around it.
	maxBody = 8*maxText + 1<<10
)

// readText reads the MessageText of a put or an update. Markup in the text is removed,
// as documented; characters that XML does not allow make the document invalid.
func readText(c *xmlservice.Call) (string, *reply.Error) {
	body, e := c.Body(maxBody)
	if e != nil {
		return "", e
	}
	root, e := xmlservice.ParseXML(body, "QueueMessage")
	if e != nil {
		return "", e
	}
	text := root.Child("MessageText")
	if text == nil {
		return "", reply.MissingXML("MessageText")
	}
	if len(text.Text) > maxText {
		return "", reply.TooLarge(maxText)
	}
	return text.Text, nil
}
