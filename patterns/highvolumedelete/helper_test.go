package highvolumedelete_test

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/query"
)

// login is a login attempt of a user, as in the guide.
type login struct {
	User    string `table:"-"`
	At      time.Time
	Address string
	OK      bool
}

func loginKey(l *login) (keys.Key, error) {
	return keys.Key{Partition: l.User, Row: l.At.UTC().Format("20060102T150405.000000000")}, nil
}

func loginOptions() *highvolumedelete.Options[login] {
	return &highvolumedelete.Options[login]{Table: patterns.TableOptions[login]{Key: loginKey}}
}

// uniquePrefix returns a prefix for tables that no other test uses.
func uniquePrefix() string { return "p" + strings.Map(letters, harness.UniqueName())[:20] + "x" }

func letters(r rune) rune {
	if r < 'a' {
		r += 'a' - '0'
	}
	return r
}

func newTables(t testing.TB, b *harness.Backend, prefix string, p highvolumedelete.Period, opts *highvolumedelete.Options[login]) *highvolumedelete.Tables[login] {
	t.Helper()
	if opts == nil {
		opts = loginOptions()
	}
	opts.Table.Key = loginKey
	s := assert.Must(highvolumedelete.New(b.Service(t), prefix, p, opts))(t)
	return s
}

// day returns a day of August 2014.
func day(n int) time.Time { return time.Date(2014, time.August, n, 0, 0, 0, 0, time.UTC) }

func insert(t testing.TB, s *highvolumedelete.Tables[login], user string, at time.Time) patterns.Item[login] {
	t.Helper()
	item := assert.Must(s.Insert(t.Context(), &login{User: user, At: at}))(t)
	return item
}

// scan returns options that allow a query for all rows.
func scan(newest bool) *highvolumedelete.QueryOptions {
	return &highvolumedelete.QueryOptions{NewestFirst: newest, QueryOptions: patterns.QueryOptions{Allow: query.TableScan}}
}

// read returns the items of a sequence as "user day hour".
func read(t testing.TB, seq iter.Seq2[patterns.Item[login], error]) []string {
	t.Helper()
	var got []string
	for item, err := range seq {
		assert.NoError(t, err)
		got = append(got, label(item))
	}
	return got
}

func label(item patterns.Item[login]) string {
	return item.Key.Partition + " " + item.Value.At.UTC().Format("02 15")
}

func want(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	assert.EqualSlices(t, got, want, what)
}

func names(tables []highvolumedelete.PeriodTable, prefix string) []string {
	var ns []string
	for _, p := range tables {
		ns = append(ns, strings.TrimPrefix(p.Name, prefix))
	}
	return ns
}

// filterAll matches every row.
var filterAll query.Filter
