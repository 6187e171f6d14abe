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

// readManifest reads a manifest, whose names lead nowhere else. If there is none it returns nil.
func readManifest(ctx context.Context, p place, name string) (*manifest, error) {
	in, err := p.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var m manifest
	err = json.NewDecoder(io.LimitReader(in, 64<<20)).Decode(&m)
	bad := func(d dumped) bool { return isFile(d.Table) || d.Table == "" || d.Rows < 0 || d.Bytes < 0 }
	if err != nil || m.Format != manifestFormat || slices.ContainsFunc(m.Tables, bad) {
		return nil, usagef("%s is not a manifest of this version of tablectl", name)
	}
	return &m, nil
}

func writeManifest(ctx context.Context, p place, name string, m *manifest) error {
	return p.create(ctx, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}

// backupFlags declares the flags that dump and restore have in common.
func backupFlags(c *cli) *move {
	m := &move{cli: c, chunk: 10_000, create: true}
	c.accountFlags("blob-", "the account of the container, if it is another one")
	c.flags.IntVar(&m.parallel, "parallel", 8, "the largest `number` of concurrent requests")
	return m
}

func dumpCommand(c *cli) action {
	m := backupFlags(c)
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
		if err := m.dumpTables(ctx, p, done); err != nil {
			if len(done.Tables) > 0 {
				c.advice = "\nthe same command continues after " + figure{len(done.Tables), "tables"}.String()
			}
			return err
		}
		rows := 0
		for _, d := range done.Tables {
			rows += d.Rows
		}
		return c.summary(false, "", figure{len(done.Tables), "tables"}, figure{rows, "rows"})
	}
}

// beginDump returns the manifest to be completed.
func (m *move) beginDump(ctx context.Context, p place, args []string) (*manifest, error) {
	if m.force { // what is replaced is not complete any more
		if err := cmp.Or(p.remove(ctx, manifestName), p.remove(ctx, partName)); err != nil {
			return nil, err
		}
	}
	complete, err := readManifest(ctx, p, manifestName)
	if err != nil {
		return nil, err
	}
	if complete != nil {
		return nil, usagef("%s contains a complete backup: use another place, or -force to replace it", args[0])
	}
	fresh := &manifest{Format: manifestFormat, Account: m.from.account.Name, Where: m.where, Began: time.Now().UTC(), Job: args[1:]}
	part, err := readManifest(ctx, p, partName)
	if part == nil {
		return fresh, err
	}
	if part.Account != fresh.Account || part.Where != fresh.Where || !slices.Equal(part.Job, fresh.Job) {
		return nil, usagef("%s contains a part of the backup of another command: use another place, or -force to replace it", args[0])
	}
	m.warn("continues after %s", figure{len(part.Tables), "tables"})
	return part, nil
}

// dumpTables writes the files of the tables that the manifest lacks, and then the manifest.
func (m *move) dumpTables(ctx context.Context, p place, done *manifest) (err error) {
	names := distinctTables(done.Job)
	if len(names) == 0 {
		if names, err = listTables(ctx, m.from); err != nil {
			return err
		}
	}
	m.shown = m.progress("rows", 0)
	for _, name := range names {
		if slices.ContainsFunc(done.Tables, func(d dumped) bool { return d.Table == name }) {
			continue
		}
		d, err := m.dumpTable(ctx, p, name)
		if err != nil {
			return err
		}
		done.Tables = append(done.Tables, d)
		if err := writeManifest(ctx, p, partName, done); err != nil {
			return err
		}
	}
	done.Ended = time.Now().UTC()
	if err := writeManifest(ctx, p, manifestName, done); err != nil {
		return err
	}
	return p.remove(ctx, partName)
}

// dumpTable writes the file of a table.
func (m *move) dumpTable(ctx context.Context, p place, name string) (d dumped, err error) {
	if isFile(name) {
		return d, usagef("the name of a table has letters and digits only")
	}
	d.Table = name
	before := m.job.Rows
	err = p.create(ctx, d.file(), func(w io.Writer) error {
		s := &sum{Hash: sha256.New()}
		z := gzip.NewWriter(io.MultiWriter(w, s))
		m.write = func(_ context.Context, rows []row) error { _, err := z.Write(textOfRows(rows)); return err }
		if err := m.run(ctx, m.scan(ctx, name)); err != nil {
			return err
		}
		err := z.Close()
		d.Rows, d.Bytes, d.SHA256 = m.job.Rows-before, s.size, hashText(s)
		return err
	})
	return d, err
}

// sum is the hash and the size of what is written to it.
type sum struct {
	hash.Hash
	size int64
}

func (s *sum) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.Hash.Write(p)
}

func hashText(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// read calls do with the content of the file. It fails if do does not read the file that was dumped to its end.
func (d *dumped) read(ctx context.Context, p place, do func(io.Reader) error) error {
	in, err := p.open(ctx, d.file())
	if err != nil {
		return err
	}
	defer in.Close()
	s := &sum{Hash: sha256.New()}
	if err := do(io.TeeReader(in, s)); err != nil {
		return err
	}
	if s.size != d.Bytes || hashText(s) != d.SHA256 {
		return fmt.Errorf("%s is not the file that the manifest describes", d.file())
	}
	return nil
}

func restoreCommand(c *cli) action {
	m := backupFlags(c)
	m.modeFlag("insert")
	c.stateFlags("restore.state", " and overwrite files of refused rows")
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
		if err != nil {
			return err
		}
		if all == nil {
			return usagef("%s: the backup is not complete: it has no %s", args[0], manifestName)
		}
		tables, names := all.Tables, distinctTables(args[1:])
		if len(names) > 0 {
			tables = slices.DeleteFunc(tables, func(d dumped) bool {
				return !slices.ContainsFunc(names, func(name string) bool { return sameTable(name, d.Table) })
			})
			if len(tables) != len(names) {
				return usagef("the backup has not all of these tables")
			}
		}
		if err := m.begin("restore.state", append([]string{args[0], all.Began.String(), m.mode}, names...)...); err != nil {
			return err
		}
		if err := m.checkDumped(ctx, p, tables); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
		if m.job.saved {
			m.warn("continues after %s, %s", figure{m.job.Tables, "tables"}, figure{m.job.Rows + m.job.Refused, "rows"})
		}
		if err := m.end(m.restoreTables(ctx, p, tables)); err != nil {
			return err
		}
		return m.moved("TABLE.refused", figure{len(tables), "tables"})
	}
}

// checkDumped reads the files before anything is written.
func (m *move) checkDumped(ctx context.Context, p place, tables []dumped) error {
	for _, d := range tables {
		m.total += int64(d.Rows)
		if err := d.read(ctx, p, func(in io.Reader) error { _, err := io.Copy(io.Discard, in); return err }); err != nil {
			return err
		}
	}
	return nil
}

// restoreTables restores the tables that the state has not.
func (m *move) restoreTables(ctx context.Context, p place, tables []dumped) error {
	for m.job.Tables < len(tables) {
		d := &tables[m.job.Tables]
		if err := d.read(ctx, p, func(in io.Reader) error { return m.restoreTable(ctx, in, d) }); err != nil {
			return inTable(d.Table, err)
		}
		m.job.Tables, m.job.Aside, m.job.position = m.job.Tables+1, 0, position{}
		if err := m.job.save(); err != nil {
			return err
		}
	}
	return nil
}

// restoreTable writes the rows of a file to its table, which it creates if it does not exist.
func (m *move) restoreTable(ctx context.Context, in io.Reader, d *dumped) error {
	m.label, m.aside, m.write = "table "+d.Table+", ", d.Table+".refused", m.store
	if err := m.spare(m.aside, m.job.Offset > 0); err != nil {
		return err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	l := newLines(z)
	if err := l.skip(m.job.position, d.file()); err != nil {
		return err
	}
	if err := m.openTable(ctx, m.from.rows(d.Table)); err != nil {
		return err
	}
	return m.run(ctx, l.steps(m.filter))
}
