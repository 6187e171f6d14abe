//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package azurite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"github.com/azpatterns/azpatterns/internal/assert"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The tests start this test binary as the other processes that share an Azurite.
const (
	roleVariable = "AZURITE_TEST_ROLE" // what the process does after it has connected to Azurite
	siteVariable = "AZURITE_TEST_SITE" // installDir and runDir as JSON
)

const testGrace = 200 * time.Millisecond

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(runRole(role))
	}
	os.Exit(m.Run())
}

// runRole runs such a process: it connects to Azurite and prints the endpoints. When standard input has a byte or ends,
// it ends in the way of its role. It returns the exit code.
func runRole(role string) int {
	var dirs [2]string
	if err := json.Unmarshal([]byte(os.Getenv(siteVariable)), &dirs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := site{installDir: dirs[0], runDir: dirs[1], grace: testGrace}
	if role == "install" {
		if err := s.install(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	a, err := s.start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	endBySignals()
	json.NewEncoder(os.Stdout).Encode(a.at)
	io.ReadFull(os.Stdin, make([]byte, 1))
	if role == "panic" {
		panic("requested by the test")
	}
	return 0
}

// endBySignals makes the process end by signals that its parent ignored: under nohup, or as a job in the background, it
// inherits that.
func endBySignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			c := make(chan os.Signal, 1)
			signal.Notify(c, s)
			go func() {
				<-c
				os.Exit(1)
			}()
		}
	}
}

// process is another user of Azurite.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	at    endpoints
}

// startProcess starts a process and waits until it is connected to Azurite.
func startProcess(t *testing.T, s *site, role string) *process {
	t.Helper()
	p := assert.Must(tryProcess(t, s, role))(t)
	return p
}

func tryProcess(t *testing.T, s *site, role string) (*process, error) {
	cmd := command(t, s, role)
	cmd.Stderr = nil
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the process did not connect to Azurite: %w", err)
	}
	p := &process{cmd: cmd, stdin: stdin}
	return p, json.Unmarshal(line, &p.at)
}

func command(t *testing.T, s *site, role string) *exec.Cmd {
	dirs := assert.Must(json.Marshal([2]string{s.installDir, s.runDir}))(t)
	cmd := exec.Command(os.Args[0])
	if role == "nohup" {
		cmd = exec.Command("sh", "-c", `trap "" HUP INT; exec "$0"`, os.Args[0])
	}
	cmd.Env = append(os.Environ(), roleVariable+"="+role, siteVariable+"="+string(dirs))
	return cmd
}

// realSite returns a site with the installed Azurite and a new run folder. It skips the test if Azurite is not available.
func realSite(t *testing.T) *site {
	t.Helper()
	Shared(t)
	cache := assert.Must(cacheDir())(t)
	return &site{
		installDir: filepath.Join(cache, "azurite-"+hash(packageLock)),
		runDir:     t.TempDir(),
		grace:      testGrace,
	}
}

// watch detects the end of the process that runs Azurite: the kernel closes its connections then.
type watch struct {
	pid  int
	conn io.ReadCloser
}

func watchEnd(t *testing.T, at endpoints) *watch {
	t.Helper()
	conn := assert.Must(dialService(at.Table))(t)
	t.Cleanup(func() { conn.Close() })
	return &watch{at.PID, conn}
}

// wait returns when the process has ended, and fails the test if that takes too long.
func (w *watch) wait(t *testing.T) {
	t.Helper()
	closed := make(chan struct{})
	go func() {
		io.Copy(io.Discard, w.conn)
		close(closed)
	}()
	limit := time.After(30 * time.Second)
	select {
	case <-closed:
	case <-limit:
		t.Fatalf("Azurite, process %d, still answers", w.pid)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for running(w.pid) {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("process %d is still running", w.pid)
		}
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return signalable(pid)
	}
	var (
		id          int
		name, state string
	)
	fmt.Sscanf(string(stat), "%d %s %s", &id, &name, &state)
	return state != "Z" && state != "X"
}
