package format_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// record is what one group of formats has stored.
type record struct {
	Tables map[string][]map[string]any `json:",omitempty"` // rows as the service returns them, with the types of properties
	Queues map[string][]string         `json:",omitempty"` // texts of messages
	Blobs  map[string]map[string]blobs `json:",omitempty"` // by container and name
	Texts  map[string]string           `json:",omitempty"` // what a program stores: cursors, files
}

// blobs is a stored blob. Content is base64 if Binary is set.
type blobs struct {
	Type, ContentType, ContentEncoding string            `json:",omitempty"`
	Metadata                           map[string]string `json:",omitempty"`
	Binary                             bool              `json:",omitempty"`
	Content                            string
}

// world is an account in which a group of formats is written or read.
type world struct {
	testing.TB
	*storagetest.Account
	tables, queues, containers map[string]bool
	texts                      map[string]string
}

func newWorld(t testing.TB) *world {
	return &world{t, storagetest.New(t), map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}}
}

// table returns a client of a table that exists.
func (w *world) table(name string) *aztables.Client {
	w.Helper()
	c := w.Tables().NewClient(name)
	if !w.tables[name] {
		w.tables[name] = true
		if _, err := c.CreateTable(w.Context(), nil); err != nil {
			w.Fatal(err)
		}
	}
	return c
}

// queue returns a client of a queue that exists.
func (w *world) queue(name string) *azqueue.QueueClient {
	w.Helper()
	c := w.Queue(name)
	if !w.queues[name] {
		w.queues[name] = true
		if _, err := c.Create(w.Context(), nil); err != nil {
			w.Fatal(err)
		}
	}
	return c
}

// container returns a client of a container that exists.
func (w *world) container(name string) *container.Client {
	w.Helper()
	c := w.Container(name)
	if !w.containers[name] {
		w.containers[name] = true
		if _, err := c.Create(w.Context(), nil); err != nil {
			w.Fatal(err)
		}
	}
	return c
}

// must ends the test if err is not nil.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// record returns all that is stored.
func (w *world) record() *record {
	w.Helper()
	r := &record{Texts: w.texts}
	for name := range w.allTables() {
		for pager := w.Tables().NewClient(name).NewListEntitiesPager(nil); pager.More(); {
			page, err := pager.NextPage(w.Context())
			w.must(err)
			for _, text := range page.Entities {
				var row map[string]any
				w.must(json.Unmarshal(text, &row))
				maps.DeleteFunc(row, func(name string, _ any) bool {
					return strings.HasPrefix(name, "odata.") || strings.HasPrefix(name, "Timestamp")
				})
				put(&r.Tables, name, append(r.Tables[name], row))
			}
		}
	}
	for name := range w.queues {
		for _, text := range w.messages(name) {
			put(&r.Queues, name, append(r.Queues[name], text))
		}
	}
	for name := range w.containers {
		for pager := w.Container(name).NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Metadata: true}}); pager.More(); {
			page, err := pager.NextPage(w.Context())
			w.must(err)
			for _, item := range page.Segment.BlobItems {
				put(&r.Blobs, name, r.Blobs[name])
				b := r.Blobs[name]
				put(&b, *item.Name, w.blob(name, item))
				r.Blobs[name] = b
			}
		}
	}
	return r
}

// allTables are all tables of the account, also those that the library has created.
func (w *world) allTables() map[string]bool {
	w.Helper()
	all := map[string]bool{}
	for pager := w.Tables().NewListTablesPager(nil); pager.More(); {
		page, err := pager.NextPage(w.Context())
		w.must(err)
		for _, table := range page.Tables {
			all[*table.Name] = true
		}
	}
	return all
}

func put[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

// messages returns the texts of a queue, also of messages that are not visible yet.
func (w *world) messages(name string) (texts []string) {
	w.Helper()
	for range 10 {
		for {
			resp, err := w.Queue(name).DequeueMessages(w.Context(), &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](32), VisibilityTimeout: to.Ptr[int32](7 * 24 * 3600)})
			w.must(err)
			if len(resp.Messages) == 0 {
				break
			}
			for _, m := range resp.Messages {
				texts = append(texts, *m.MessageText)
			}
		}
		time.Sleep(12 * time.Hour)
	}
	return texts
}

func (w *world) blob(in string, item *container.BlobItem) blobs {
	w.Helper()
	resp, err := w.Container(in).NewBlobClient(*item.Name).DownloadStream(w.Context(), nil)
	w.must(err)
	content, err := io.ReadAll(resp.Body)
	w.must(err)
	b := blobs{Type: string(*item.Properties.BlobType), ContentType: deref(item.Properties.ContentType), ContentEncoding: deref(item.Properties.ContentEncoding)}
	for name, value := range item.Metadata {
		put(&b.Metadata, strings.ToLower(name), deref(value))
	}
	if b.Content = string(content); !utf8.Valid(content) || slices.Contains(content, 0) {
		b.Binary, b.Content = true, base64.StdEncoding.EncodeToString(content)
	}
	return b
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// load stores a record.
func (w *world) load(r *record) {
	w.Helper()
	for name, rows := range r.Tables {
		client := w.table(name)
		for _, row := range rows {
			text, err := json.Marshal(row)
			w.must(err)
			_, err = client.AddEntity(w.Context(), text, nil)
			w.must(err)
		}
	}
	for name, texts := range r.Queues {
		client := w.queue(name)
		for _, text := range texts {
			_, err := client.EnqueueMessage(w.Context(), text, nil)
			w.must(err)
		}
	}
	for name, all := range r.Blobs {
		client := w.container(name)
		for name, b := range all {
			w.upload(client, name, &b)
		}
	}
	w.texts = r.Texts
}

func (w *world) upload(c *container.Client, name string, b *blobs) {
	w.Helper()
	content := []byte(b.Content)
	if b.Binary {
		var err error
		content, err = base64.StdEncoding.DecodeString(b.Content)
		w.must(err)
	}
	metadata := map[string]*string{}
	for name, value := range b.Metadata {
		metadata[name] = &value
	}
	headers := &blob.HTTPHeaders{BlobContentType: &b.ContentType}
	if b.ContentEncoding != "" {
		headers.BlobContentEncoding = &b.ContentEncoding
	}
	body := streaming.NopCloser(strings.NewReader(string(content)))
	if b.Type == string(blob.BlobTypeBlockBlob) {
		_, err := c.NewBlockBlobClient(name).Upload(w.Context(), body, &blockblob.UploadOptions{Metadata: metadata, HTTPHeaders: headers})
		w.must(err)
		return
	}
	client := c.NewAppendBlobClient(name)
	_, err := client.Create(w.Context(), &appendblob.CreateOptions{Metadata: metadata, HTTPHeaders: headers})
	w.must(err)
	_, err = client.AppendBlock(w.Context(), body, nil)
	w.must(err)
}

// sort orders rows and messages by their shape, so that random ids do not matter.
func (r *record) sort() {
	for _, rows := range r.Tables {
		slices.SortFunc(rows, func(a, b map[string]any) int { return cmp.Compare(rowShape(a), rowShape(b)) })
	}
	for _, texts := range r.Queues {
		slices.SortFunc(texts, func(a, b string) int { return cmp.Compare(textShape(a), textShape(b)) })
	}
}

// What differs each time that something is written.
var (
	randomIDs = regexp.MustCompile(`[A-Z2-7]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|_[0-9a-v]{13}\b|_[0-9a-f]{16}_|"PartitionKey":"\d\d_`)
	times     = regexp.MustCompile(`2000-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`) // of the virtual clock
	figure    = regexp.MustCompile(`("[A-Za-z]+":|[\[,])-?\d[\d.]*`)
	token     = regexp.MustCompile(`[A-Za-z0-9_-]{20,}`)
	word      = regexp.MustCompile(`[A-Za-z0-9_-]+`)
)

// randomProperties have values that are random, or computed from ETags: only their form is compared.
var randomProperties = map[string]bool{"azp_stamp": true, "azp_version": true, "azp_parts": true, "azp_part": true, "azp_adds": true}

// textShape replaces what is random in a text.
func textShape(text string) string {
	if b, err := base64.StdEncoding.Strict().DecodeString(text); err == nil && strings.HasPrefix(string(b), "{") {
		text = string(b)
	}
	return times.ReplaceAllString(randomIDs.ReplaceAllString(text, "<id>"), "<time>")
}

// rowShape returns the JSON of a row without what is random.
func rowShape(row map[string]any) string {
	row = maps.Clone(row)
	for name, value := range row {
		if text, ok := value.(string); ok && randomProperties[name] {
			row[name] = word.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
		}
	}
	if text, ok := row["State"].(string); ok { // of a run
		row["State"] = withoutFigures(text)
	}
	text, _ := json.Marshal(row)
	return textShape(string(text))
}

// withoutFigures replaces the counts in a JSON text, and keeps its version.
func withoutFigures(text string) string {
	return figure.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, `"version"`) {
			return s
		}
		return strings.TrimRight(s, "-.0123456789") + "0"
	})
}

// lines returns the record as lines that are equal if the formats are.
func (r *record) lines() (all []string) {
	for name, rows := range r.Tables {
		for _, row := range rows {
			all = append(all, "table "+name+": "+rowShape(row))
		}
	}
	for name, texts := range r.Queues {
		for _, text := range texts {
			all = append(all, "queue "+name+": "+textShape(text))
		}
	}
	for in, named := range r.Blobs {
		for name, b := range named {
			text, _ := json.Marshal(b)
			all = append(all, "blob "+in+"/"+textShape(name)+": "+textShape(string(text)))
		}
	}
	for name, text := range r.Texts {
		if strings.HasPrefix(text, "{") {
			text = withoutFigures(text)
		}
		all = append(all, "text "+name+": "+cursorShape(text))
	}
	slices.Sort(all)
	return all
}

// cursorShape returns the position of a cursor of package pages, without the hashes before it, and the shape of any other text.
func cursorShape(text string) string {
	const header = 1 + 8 + 16
	if b, err := base64.RawURLEncoding.Strict().DecodeString(text); err == nil && len(b) > header && b[0] == 1 {
		text = "cursor 1 " + strings.ToValidUTF8(string(b[header:]), "?")
	}
	text = token.ReplaceAllStringFunc(text, func(s string) string { // a token of a service in it
		b, err := base64.RawURLEncoding.Strict().DecodeString(s)
		if err != nil || !ascii(b) {
			return s
		}
		return string(b)
	})
	return textShape(text)
}

func ascii(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}
