package tablectl

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// The names of a backup. The manifest is written last: without it the backup is not complete. Until then the list of the tables
// that are complete is in a file of another name, from which the command continues.
const (
	manifestName = "manifest.json"
	partName     = "manifest.part.json"

	manifestFormat = 1
)

type manifest struct {
	Format  int       `json:"format"`
	Account string    `json:"account"`
	Where   string    `json:"where,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Tables  []dumped  `json:"tables"`

	Job []string `json:"job"` // the tables that were named
}

// dumped is a table of a backup.
type dumped struct {
	Table  string `json:"table"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`  // of its file
	SHA256 string `json:"sha256"` // of its file
}

func (d *dumped) file() string { return d.Table + ".jsonl.gz" }

// errIncomplete is what a backup without a manifest is.
var errIncomplete = errors.New("the backup is not complete: it has no " + manifestName)

// readManifest reads a manifest, whose names lead nowhere else.
func readManifest(ctx context.Context, p place, name string) (m manifest, err error) {
	in, err := p.open(ctx, name)
	if err != nil {
		return m, err
	}
	defer in.Close()
	err = json.NewDecoder(io.LimitReader(in, 64<<20)).Decode(&m)
	bad := func(d dumped) bool { return isFile(d.Table) || d.Table == "" || d.Rows < 0 || d.Bytes < 0 }
	if err != nil || m.Format != manifestFormat || slices.ContainsFunc(m.Tables, bad) {
		return m, usagef("%s is not a manifest of this version of tablectl", name)
	}
	return m, nil
}

func writeManifest(ctx context.Context, p place, name string, m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return p.create(ctx, name, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}

// backupFlags declares the flags that dump and restore have in common.
func backupFlags(c *cli, name string) *move {
	m := &move{cli: c, name: name, chunk: 10_000}
	c.accountFlags("blob-", "the account of the container, if it is another one")
	c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
	return m
}

func dumpCommand(c *cli) action {
	m := backupFlags(c, "dump")
	c.filterFlags()
	c.flags.BoolVar(&m.force, "force", false, "begin anew: replace what the place contains")
	return func(ctx context.Context, args []string) error {
		if m.parallel < 1 {
			return usagef("-parallel must be positive")
		}
		p, err := c.openPlace(ctx, args[0], true)
		if err != nil {
			return err
		}
		done, err := m.beginDump(ctx, p, args)
		if err != nil {
			return err
		}
		names := done.Job
		if len(names) == 0 {
			if names, err = listTables(ctx, c.from); err != nil {
				return err
			}
		}
		rows := 0
		shown := c.progress("rows", 0)
		for _, name := range names {
			i := slices.IndexFunc(done.Tables, func(d dumped) bool { return d.Table == name })
			if i < 0 {
				d, err := m.dumpTable(ctx, p, name, func(n int) { shown.update(int64(rows+n), 0) })
				if err == nil {
					i, done.Tables = len(done.Tables), append(done.Tables, d)
					err = writeManifest(ctx, p, partName, done)
				}
				if err != nil {
					if len(done.Tables) > 0 {
						err = &advised{err, "the same command continues after " + figure{len(done.Tables), "tables"}.String()}
					}
					return err
				}
			}
			rows += done.Tables[i].Rows
		}
		done.Ended = time.Now().UTC()
		if err = writeManifest(ctx, p, manifestName, done); err == nil && len(names) > 0 {
			err = p.remove(ctx, partName)
		}
		return cmp.Or(err, c.summary(false, "", figure{len(names), "tables"}, figure{rows, "rows"}))
	}
}

// beginDump returns the manifest to be completed.
func (m *move) beginDump(ctx context.Context, p place, args []string) (*manifest, error) {
	fresh := &manifest{Format: manifestFormat, Account: m.from.name, Where: m.where.text, Began: time.Now().UTC(), Job: args[1:]}
	if m.force { // what is replaced is not complete any more
		if err := p.remove(ctx, manifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return fresh, nil
	}
	switch _, err := readManifest(ctx, p, manifestName); {
	case err == nil:
		return nil, usagef("%s contains a complete backup: use another place, or -force to replace it", args[0])
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	part, err := readManifest(ctx, p, partName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, nil
	case err != nil:
		return nil, err
	case part.Account != fresh.Account || part.Where != fresh.Where || !slices.Equal(part.Job, fresh.Job):
		return nil, usagef("%s contains a part of the backup of another command: use another place, or -force to replace it", args[0])
	}
	m.warn("continues after %s", figure{len(part.Tables), "tables"})
	return &part, nil
}

// dumpTable writes the file of a table.
func (m *move) dumpTable(ctx context.Context, p place, name string, shown func(rows int)) (d dumped, err error) {
	if isFile(name) {
		return d, usagef("the name of a table has letters and digits only")
	}
	t, err := openTable(m.from.Table(name))
	if err != nil {
		return d, err
	}
	d.Table = name
	err = p.create(ctx, d.file(), func(w io.Writer) error {
		s := &sum{hash: sha256.New()}
		z := gzip.NewWriter(io.MultiWriter(w, s))
		m.job, m.write = state{}, func(_ context.Context, c *chunk) error { _, err := z.Write(textOfRows(c.rows)); return err }
		if err := m.moveAll(ctx, m.scan(ctx, t, name), func() { shown(m.job.Rows) }); err != nil {
			return err
		}
		err := z.Close()
		d.Rows, d.Bytes, d.SHA256 = m.job.Rows, s.size, s.text()
		return err
	})
	return d, err
}

// sum is the size and the hash of a file.
type sum struct {
	hash hash.Hash
	size int64
}

func (s *sum) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.hash.Write(p)
}

func (s *sum) text() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// checked is the file of a table. At its end it fails if it is not the one that was dumped.
type checked struct {
	io.ReadCloser
	sum
	d *dumped
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	_, _ = c.sum.Write(p[:n])
	if err == io.EOF && (c.size != c.d.Bytes || c.text() != c.d.SHA256) {
		err = fmt.Errorf("%s is not the file that the manifest describes", c.d.file())
	}
	return n, err
}

func openDumped(ctx context.Context, p place, d *dumped) (*checked, error) {
	in, err := p.open(ctx, d.file())
	return &checked{ReadCloser: in, sum: sum{hash: sha256.New()}, d: d}, err
}

func restoreCommand(c *cli) action {
	m := backupFlags(c, "restore")
	m.modeFlag("insert")
	c.stateFlags(&m.stateFlags, "restore.state", " and overwrite files of refused rows")
	c.flags.IntVar(&m.chunk, "chunk", m.chunk, "write so many `rows` between two saves of the state")
	c.flags.BoolVar(&m.dryRun, "dry-run", false, "read and check everything, and write nothing")
	return func(ctx context.Context, args []string) error {
		if err := m.check(); err != nil {
			return err
		}
		p, err := c.openPlace(ctx, args[0], false)
		if err != nil {
			return err
		}
		all, err := readManifest(ctx, p, manifestName)
		if errors.Is(err, fs.ErrNotExist) {
			return usagef("%s: %w", args[0], errIncomplete)
		}
		if err != nil {
			return err
		}
		var tables []dumped
		for _, d := range all.Tables {
			if len(args) == 1 || slices.Contains(args[1:], d.Table) {
				tables = append(tables, d)
				m.total += int64(d.Rows)
			}
		}
		if len(args) > 1 && len(tables) != len(args)-1 {
			return usagef("the backup has not all of these tables")
		}
		if m.state = cmp.Or(m.state, "restore.state"); m.dryRun {
			m.state = ""
		}
		if m.job, m.continues, err = m.load(append([]string{m.name, c.from.name, args[0], all.Began.String(), m.mode}, args[1:]...)...); err != nil {
			return err
		}
		if err := checkDumped(ctx, p, tables); err != nil {
			return err
		}
		if m.continues {
			m.warn("continues after %s, %s", figure{m.job.Tables, "tables"}, figure{m.job.Rows + m.job.Refused, "rows"})
		}
		if err := m.job.end(m.restoreTables(ctx, p, tables)); err != nil {
			return err
		}
		return m.moved("TABLE.refused", figure{len(tables), "tables"})
	}
}

// restoreTables restores the tables that the state has not.
func (m *move) restoreTables(ctx context.Context, p place, tables []dumped) error {
	shown := m.progress("rows", int64(m.job.Rows))
	for m.job.Tables < len(tables) {
		d := &tables[m.job.Tables]
		if err := m.restoreTable(ctx, p, d, func() { shown.update(int64(m.job.Rows), m.total) }); err != nil {
			return inTable(d.Table, err)
		}
		m.job.Tables, m.job.Aside, m.job.position = m.job.Tables+1, 0, position{}
		if err := m.job.save(); err != nil {
			return err
		}
	}
	return nil
}

// checkDumped reads the files before anything is written.
func checkDumped(ctx context.Context, p place, tables []dumped) error {
	for _, d := range tables {
		in, err := openDumped(ctx, p, &d)
		if err == nil {
			_, err = io.Copy(io.Discard, in)
			err = errors.Join(err, in.Close())
		}
		if err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
	}
	return nil
}

// restoreTable writes the rows of a file to its table, which it creates if it does not exist.
func (m *move) restoreTable(ctx context.Context, p place, d *dumped, after func()) error {
	m.label, m.aside, m.write = "table "+d.Table+", ", d.Table+".refused", m.store
	if info, err := os.Stat(m.aside); err == nil && info.Size() > m.job.Aside && m.job.Offset == 0 && !m.force && !m.dryRun {
		return usagef("%s exists: remove it", m.aside)
	}
	in, err := openDumped(ctx, p, d)
	if err != nil {
		return err
	}
	defer in.Close()
	before := sha256.New()
	z, err := gzip.NewReader(in)
	if err == nil && m.job.Offset > 0 {
		err = m.skip(z, before, d.file())
	}
	if err == nil {
		err = m.openTable(ctx, m.from.Table(d.Table), !m.dryRun)
	}
	if err != nil {
		return err
	}
	return m.moveAll(ctx, m.lines(z, before), after)
}
