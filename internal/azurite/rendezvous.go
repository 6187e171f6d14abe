package azurite

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// greetLimit is the time limit for the greeting on a control connection. It is exceeded only if the rendezvous file is
// stale and another program uses the port, or if the machine is overloaded. In both cases a new Azurite is started.
const greetLimit = 10 * time.Second

// endpoints is the answer of the supervisor on a control connection.
type endpoints struct {
	PID   int    `json:"pid"`
	Table string `json:"table"`
	Queue string `json:"queue"`
	Blob  string `json:"blob"`
}

// rendezvous is the content of the file by which processes find the running supervisor. The token distinguishes the
// supervisor from another program that later uses the same port.
type rendezvous struct {
	PID     int    `json:"pid"`
	Control int    `json:"control"`
	Token   string `json:"token"`
}

func (s *site) rendezvousFile() string { return filepath.Join(s.runDir, "rendezvous.json") }

func (s *site) logFile() string { return filepath.Join(s.runDir, "supervisor.log") }

// start connects to the running Azurite. If there is none, it starts one, under a lock, so that there is only one.
func (s *site) start(ctx context.Context) (*Azurite, error) {
	if err := os.MkdirAll(s.runDir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: create the folder of the rendezvous file: %w", ErrUnavailable, err)
	}
	if a, err := s.join(ctx); err == nil {
		return a, nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: node (Node.js) is not on the PATH", ErrUnavailable)
	}
	if err := s.install(ctx); err != nil {
		return nil, err
	}
	release, err := lock(ctx, filepath.Join(s.runDir, "lock"))
	if err != nil {
		return nil, err
	}
	defer release()
	if a, err := s.join(ctx); err == nil {
		return a, nil
	}
	if err := s.spawn(ctx, node); err != nil {
		return nil, err
	}
	return s.join(ctx)
}

// join connects to the Azurite in the rendezvous file, if there is one.
func (s *site) join(ctx context.Context) (*Azurite, error) {
	text, err := os.ReadFile(s.rendezvousFile())
	if err != nil {
		return nil, fmt.Errorf("azurite: %w", err)
	}
	var meet rendezvous
	if err := json.Unmarshal(text, &meet); err != nil {
		return nil, fmt.Errorf("azurite: read the rendezvous file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(meet.Control)))
	if err != nil {
		return nil, fmt.Errorf("azurite: %w", err)
	}
	at, err := greet(ctx, conn, meet.Token)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("azurite: greet the supervisor: %w", err), conn.Close())
	}
	return newAzurite(conn, at, s.logFile()), nil
}

func greet(ctx context.Context, conn net.Conn, token string) (endpoints, error) {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	defer stop()
	if _, err := fmt.Fprintln(conn, token); err != nil {
		return endpoints{}, err
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return endpoints{}, err
	}
	var at endpoints
	if err := json.Unmarshal(line, &at); err != nil {
		return endpoints{}, err
	}
	if at.PID == 0 || at.Table == "" || at.Queue == "" || at.Blob == "" {
		return endpoints{}, errors.New("incomplete answer")
	}
	return at, nil
}

// spawn starts the supervisor, waits for its report that Azurite is ready, and writes the rendezvous file.
func (s *site) spawn(ctx context.Context, node string) error {
	meet := rendezvous{Token: rand.Text()}
	script := filepath.Join(s.runDir, "supervisor.js")
	if err := publish(script, supervisorScript); err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]any{
		"azurite":     filepath.Join(s.installDir, "node_modules", "azurite"),
		"token":       meet.Token,
		"rendezvous":  s.rendezvousFile(),
		"graceMillis": s.grace.Milliseconds(),
		"args":        s.args,
	})
	if err != nil {
		return fmt.Errorf("azurite: %w", err)
	}
	report, err := s.runSupervisor(ctx, exec.Command(node, script), string(settings))
	if err != nil {
		return err
	}
	if report.Unusable != "" {
		return fmt.Errorf("%w: %s", ErrUnavailable, report.Unusable)
	}
	meet.PID, meet.Control = report.PID, report.Control
	text, err := json.Marshal(meet)
	if err != nil {
		return fmt.Errorf("azurite: %w", err)
	}
	return publish(s.rendezvousFile(), text)
}

// report is the only line that the supervisor writes to standard output.
type report struct {
	PID      int    `json:"pid"`
	Control  int    `json:"control"`
	Unusable string `json:"unusable"`
}

// runSupervisor starts cmd and reads its report. The supervisor can run longer than this process, so it does not inherit
// any pipe of this process: `go test` would wait until it is closed.
func (s *site) runSupervisor(ctx context.Context, cmd *exec.Cmd, settings string) (report, error) {
	stderr, err := os.Create(s.logFile())
	if err != nil {
		return report{}, fmt.Errorf("azurite: %w", err)
	}
	defer stderr.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return report{}, fmt.Errorf("azurite: %w", err)
	}
	defer reader.Close()
	cmd.Dir = s.runDir
	cmd.Env = environment()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(settings), writer, stderr
	detach(cmd)
	err = cmd.Start()
	writer.Close()
	if err != nil {
		return report{}, fmt.Errorf("azurite: %w", err)
	}
	go cmd.Wait() // releases the process if it ends before this one
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()

	line, err := bufio.NewReader(reader).ReadBytes('\n')
	var got report
	if err == nil {
		err = json.Unmarshal(line, &got)
	}
	if err != nil {
		output, _ := os.ReadFile(s.logFile())
		return report{}, fmt.Errorf("azurite: the supervisor did not start: %w\n%s", errors.Join(ctx.Err(), err), tail(output))
	}
	return got, nil
}

// publish writes a file atomically.
func publish(name string, content []byte) error {
	if have, err := os.ReadFile(name); err == nil && string(have) == string(content) {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("azurite: %w", err)
	}
	next := name + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("azurite: %w", err)
	}
	if err := os.Rename(next, name); err != nil {
		return fmt.Errorf("azurite: %w", err)
	}
	return nil
}
