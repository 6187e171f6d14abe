package blob

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// tag is a tag of a blob: at most 10, with names of 1 to 128 and values of 0 to 256
// characters. They are stored and returned; they cannot be searched.
// https://learn.microsoft.com/rest/api/storageservices/set-blob-tags
type tag struct{ key, value string }

func checkTags(tags []tag) *reply.Error {
	bad := func() *reply.Error {
		return reply.New(http.StatusBadRequest, "InvalidTag", "The tags specified are invalid.").Because("tags: keys of 1 to 128 and values of at most 256 characters, each a letter, digit, space or one of + - . / : = _; no key twice")
	}
	if len(tags) > 10 {
		return reply.New(http.StatusBadRequest, "TagsTooLarge", "The tags specified exceed the maximum permissible limit.").Because("tags: at most 10")
	}
	seen := map[string]bool{}
	for _, t := range tags {
		if n := utf8.RuneCountInString(t.key); n < 1 || n > 128 || utf8.RuneCountInString(t.value) > 256 || seen[t.key] {
			return bad()
		}
		seen[t.key] = true
		for _, r := range t.key + t.value {
			letter := r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
			if !letter && !strings.ContainsRune(" +-./:=_", r) {
				return bad()
			}
		}
	}
	return nil
}

// headerTags reads x-ms-tags, which has the form of a query.
func (c *call) headerTags() ([]tag, *reply.Error) {
	text := c.Header("X-Ms-Tags")
	if text == "" {
		return nil, nil
	}
	var tags []tag
	for pair := range strings.SplitSeq(text, "&") {
		k, v, _ := strings.Cut(pair, "=")
		key, err1 := url.QueryUnescape(k)
		value, err2 := url.QueryUnescape(v)
		if err1 != nil || err2 != nil {
			return nil, reply.InvalidHeader("x-ms-tags", text, "not escaped as in an address")
		}
		tags = append(tags, tag{key, value})
	}
	return tags, checkTags(tags)
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-tags
func (c *call) setTags() *reply.Error {
	body, e := c.Body(maxSmall)
	if e != nil {
		return e
	}
	if e := c.Verify(body, "Content-Md5", "X-Ms-Content-Crc64"); e != nil {
		return e
	}
	root, e := xmlservice.ParseXML(body, "Tags")
	if e != nil {
		return e
	}
	set := root.Child("TagSet")
	if set == nil {
		return reply.MissingXML("TagSet")
	}
	var tags []tag
	for _, k := range set.Children {
		if k.Name != "Tag" || k.Child("Key") == nil || k.Child("Value") == nil {
			return reply.UnknownXML(k.Name)
		}
		tags = append(tags, tag{k.Child("Key").Text, k.Child("Value").Text})
	}
	if e := checkTags(tags); e != nil {
		return e
	}
	return c.onOwnBlob(ofTagged, true, func(_ *container, b *blob) *reply.Error {
		b.tags = tags // neither ETag nor Last-Modified changes
		return c.Empty(http.StatusNoContent)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/get-blob-tags
func (c *call) getTags() *reply.Error {
	cond, e := readConditions(c.Call, ofTagged, true)
	if e != nil {
		return e
	}
	return c.onBlob(func(_ *container, b *blob) *reply.Error {
		if e := c.readable(cond, b); e != nil {
			return e
		}
		var x xmlservice.XML
		tagsXML(&x, b.tags)
		return c.XML(http.StatusOK, &x)
	})
}

func tagsXML(x *xmlservice.XML, tags []tag) {
	x.Begin("Tags")
	x.Begin("TagSet")
	for _, t := range tags {
		x.Begin("Tag")
		x.Text("Key", t.key)
		x.Text("Value", t.value)
		x.End("Tag")
	}
	x.End("TagSet")
	x.End("Tags")
}

// https://learn.microsoft.com/rest/api/storageservices/set-blob-tier
func (c *call) setTier() *reply.Error {
	tier, e := c.readTier()
	if e != nil {
		return e
	}
	if tier == "" {
		return reply.MissingHeader("x-ms-access-tier")
	}
	return c.onBlob(func(_ *container, b *blob) *reply.Error {
		if e := c.holds(b, false); e != nil {
			return e
		}
		if b.kind != blockBlob {
			return wrongType()
		}
		b.tier, b.tiered = tier, c.Now
		return c.Empty(http.StatusOK)
	})
}

func (c *call) readTier() (string, *reply.Error) {
	switch tier := c.Header("X-Ms-Access-Tier"); tier {
	case "", "Hot", "Cool", "Cold":
		return tier, nil
	case "Archive":
		return "", reply.NotImplemented("the Archive tier")
	default:
		return "", reply.InvalidHeader("x-ms-access-tier", tier, "Hot, Cool or Cold")
	}
}

func (b *blob) accessTier() string {
	if b.tier == "" {
		return "Hot"
	}
	return b.tier
}
