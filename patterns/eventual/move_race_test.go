package eventual_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// beforeRequest calls do just before the n-th request, counted from 1, is carried out. do
// must not use the clients whose requests are counted.
func beforeRequest(b *harness.Backend, n int, do func()) {
	count := 0
	b.Fault(storagetest.On("*").Where(func(storagetest.Request) bool {
		if count++; count == n {
			do()
		}
		return false
	}))
}

// atEachRequest calls body for the number of each request of a move, without and with an
// earlier row in the archive.
func atEachRequest(t *testing.T, body func(t *testing.T, n int, earlier string)) {
	for n := 1; n <= 3; n++ {
		t.Run(fmt.Sprint("none/", n), func(t *testing.T) { body(t, n, "") })
	}
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("earlier/", n), func(t *testing.T) { body(t, n, employee("0", "long ago")) })
	}
}

func TestMoveIncludesConcurrentChanges(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			atEachRequest(t, func(t *testing.T, n int, earlier string) {
				a.reset(t, employee("1", "Ken"), earlier)
				beforeRequest(b, n, func() {
					if !a.change(t, employee("1", "Ken Kwok")) {
						t.Error("the row was gone too early")
					}
				})
				err := a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"})
				b.ClearFaults()
				assert.Equal(t, err, nil)
				a.want(t, "", employee("1", "Ken Kwok"))
			})
		})
	})
}

func TestMoveByETagMovesOnlyThatVersion(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			atEachRequest(t, func(t *testing.T, n int, earlier string) {
				row := row456()
				row.ETag = a.reset(t, employee("1", "Ken"), earlier)
				beforeRequest(b, n, func() { a.change(t, employee("1", "Ken Kwok")) })
				err := a.move(t.Context(), row)
				b.ClearFaults()
				assert.WantError(t, err, eventual.ErrSuperseded)
				a.want(t, employee("1", "Ken Kwok"), earlier) // the copy was undone
			})
		})
	})
}

func TestRecreatedRowIsNotMoved(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			for _, by := range []string{"ETag", "Where"} {
				atEachRequest(t, func(t *testing.T, n int, earlier string) {
					row := row456()
					etag := a.reset(t, employee("1", "Ken"), earlier)
					if by == "ETag" {
						row.ETag = etag
					} else {
						row.Where = "Contract eq '1'"
					}
					beforeRequest(b, n, func() {
						deleteRow(t, a.direct)
						putRow(t, a.direct, employee("2", "is back"))
					})
					err := a.move(t.Context(), row)
					b.ClearFaults()
					assert.WantError(t, err, eventual.ErrSuperseded)
					a.want(t, employee("2", "is back"), earlier)
					// The message is delivered again.
					assert.WantError(t, a.move(t.Context(), row), eventual.ErrSuperseded, "second call")
					a.want(t, employee("2", "is back"), earlier)
				})
			}
		})
	})
}

// While this worker is delayed, another one archives the employee, who is hired again and
// archived again.
func TestDelayedMoveDoesNotUndoANewerOne(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for try := 1; try <= 5; try++ {
			for _, earlier := range []string{"", employee("0", "long ago")} {
				for _, kind := range []string{"table", "blob"} {
					t.Run(fmt.Sprintf("%s/%d/%t", kind, try, earlier != ""), func(t *testing.T) {
						name := harness.UniqueName()
						current, old, blobs := b.NamedTable(t, name), b.Table(t), b.Container(t)
						move := func(from *aztables.Client, contract string) error {
							r := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '" + contract + "'"}
							if kind == "blob" {
								return eventual.MoveToBlob(t.Context(), from, blobs, r)
							}
							return eventual.Move(t.Context(), from, old, r)
						}
						if earlier != "" {
							putRow(t, current, earlier)
							assert.NoError(t, move(current, "0"))
						}
						putRow(t, current, employee("1", "Ken"))
						fired := false
						slow := b.AfterEachTry(t, name, func(n int) {
							if n != try || fired {
								return
							}
							fired = true
							assert.Equal(t, move(current, "1"), nil)
							putRow(t, current, employee("2", "is back"))
							assert.Equal(t, move(current, "2"), nil)
						})
						assert.Equal(t, move(slow, "1"), nil)
						a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
						if kind == "blob" {
							a.read = func(t testing.TB) (string, bool) { return readBlob(t, blobs) }
						}
						want := employee("2", "is back")
						if !fired {
							want = employee("1", "Ken")
						}
						a.want(t, "", want)
					})
				}
			}
		}
	})
}

func TestMoveReturnsConflictAfterTooManyLostRaces(t *testing.T) {
	harness.InVirtualTime(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		current, old := b.NamedTable(t, name), b.Table(t)
		direct := b.Direct(t, name)
		putRow(t, direct, employee("1", "Ken"))
		n := 0
		b.Fault(storagetest.On("Table.Delete").Where(func(storagetest.Request) bool {
			n++
			putRow(t, direct, employee("1", fmt.Sprint("Ken ", n)))
			return false
		}))
		assert.WantError(t, eventual.Move(t.Context(), current, old, row456()), patterns.ErrConflict)
		assert.Equal(t, n, 16, "tries")
	})
}

// The row is changed during the first try, which the move accepts, and replaced by a new
// row during the second. The archive must then be as it was before the move, not as it was
// after the first try.
func TestSupersededMoveRestoresTheArchiveAfterSeveralTries(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		archives(t, b, func(t *testing.T, a *archive) {
			for _, earlier := range []string{"", employee("0", "long ago")} {
				a.reset(t, employee("1", "Ken"), earlier)
				deletes := 0
				b.Fault(storagetest.On("Table.Delete").Where(func(storagetest.Request) bool {
					switch deletes++; deletes {
					case 1:
						a.change(t, employee("1", "Ken Kwok"))
					case 2:
						a.change(t, employee("2", "is back"))
					}
					return false
				}))
				err := a.move(t.Context(), eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"})
				b.ClearFaults()
				assert.WantError(t, err, eventual.ErrSuperseded)
				a.want(t, employee("2", "is back"), earlier)
			}
		})
	})
}

// The delete is carried out and its response is lost. Before the SDK repeats it the employee
// is hired again, so the retried delete finds another version. The copy must stay.
func TestMoveKeepsTheCopyIfTheResponseToItsDeleteIsLost(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		for _, kind := range []string{"table", "blob"} {
			name := harness.UniqueName()
			current, old, blobs := b.NamedTable(t, name), b.Table(t), b.Container(t)
			putRow(t, current, employee("1", "Ken"))
			from := b.AfterEachTry(t, name, func(try int) {
				if try == 2 { // the first is the read
					putRow(t, b.Direct(t, name), employee("2", "is back"))
				}
			})
			b.Fault(storagetest.On("Table.Delete").Nth(1).LoseReply())
			row := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}
			a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
			var err error
			if kind == "blob" {
				a.read = func(t testing.TB) (string, bool) { return readBlob(t, blobs) }
				err = eventual.MoveToBlob(t.Context(), from, blobs, row)
			} else {
				err = eventual.Move(t.Context(), from, old, row)
			}
			b.ClearFaults()
			assert.WantError(t, err, patterns.ErrOutcomeUnknown, kind)
			a.want(t, employee("2", "is back"), employee("1", "Ken"))
		}
	})
}

// While this worker is delayed after a request to the archive, another one completes the move,
// with the copy that it finds there, and the employee is hired again.
func TestDelayedMoveDoesNotUndoTheCopyOfAnother(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		for try := 1; try <= 3; try++ {
			for _, earlier := range []string{"", employee("0", "long ago")} {
				name := harness.UniqueName()
				current, old := b.Table(t), b.NamedTable(t, name)
				if earlier != "" {
					putRow(t, old, earlier)
				}
				putRow(t, current, employee("1", "Ken"))
				row := eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '1'"}
				slow := b.AfterEachTry(t, name, func(n int) {
					if n == try {
						assert.NoError(t, eventual.Move(t.Context(), current, old, row))
						putRow(t, current, employee("2", "is back"))
					}
				})
				if err := eventual.Move(t.Context(), current, slow, row); err != nil && !errors.Is(err, eventual.ErrSuperseded) {
					t.Error(err)
				}
				a := &archive{current: current, read: func(t testing.TB) (string, bool) { return readRow(t, old) }}
				if earlier == "" && try > 1 {
					continue // there is one request
				}
				a.want(t, employee("2", "is back"), employee("1", "Ken"))
			}
		}
	})
}

// While this worker is delayed, another one moves the row, and the next one with the key, to the archive.
func TestADelayedMoveNeverReplacesANewerRow(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		current, old := b.Table(t), b.NamedTable(t, name)
		putRow(t, old, employee("0", "long ago"))
		putRow(t, current, employee("1", "Ken"))
		contract := func(n string) eventual.Row {
			return eventual.Row{PartitionKey: "Sales", RowKey: "456", Where: "Contract eq '" + n + "'"}
		}
		var newer string
		slow := b.AfterEachTry(t, name, func(n int) {
			if n == 1 {
				assert.NoError(t, eventual.Move(t.Context(), current, old, contract("1")))
				putRow(t, current, employee("2", "is back"))
				assert.NoError(t, eventual.Move(t.Context(), current, old, contract("2")))
				putRow(t, current, employee("3", "again"))
				newer, _ = readRow(t, old)
			}
			if now, _ := readRow(t, old); now != newer {
				t.Errorf("after request %d the archive contains %s, want %s", n, now, newer)
			}
		})
		assert.WantError(t, eventual.Move(t.Context(), current, slow, contract("1")), eventual.ErrSuperseded)
	})
}
