//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package azurite

import (
	"encoding/json"
	"errors"
	"github.com/azpatterns/azpatterns/internal/assert"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalable(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func dialService(address string) (net.Conn, error) {
	return net.Dial("tcp", strings.TrimPrefix(address, "http://"))
}

func TestConcurrentProcessesShareOneAzurite(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	const processes = 4
	var (
		wait sync.WaitGroup
		got  [processes]*process
		errs [processes]error
	)
	for i := range processes {
		wait.Go(func() { got[i], errs[i] = tryProcess(t, s, "hold") })
	}
	wait.Wait()
	assert.NoError(t, errors.Join(errs[:]...))
	for _, p := range got {
		assert.Equal(t, p.at, got[0].at, "processes are connected to different endpoints", "and")
	}

	end := watchEnd(t, got[0].at)
	for _, p := range got {
		p.stdin.Close()
	}
	end.wait(t)
	assert.WantError(t, assert.ErrorOf(os.Stat(s.rendezvousFile())), os.ErrNotExist, "the rendezvous file was not removed")
}

func TestAzuriteAnswersOnAllThreeServices(t *testing.T) {
	a := Shared(t)
	for _, url := range []string{a.TableURL(), a.QueueURL(), a.BlobURL()} {
		resp := assert.Must(http.Get(url))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if server := resp.Header.Get("Server"); !strings.HasPrefix(server, "Azurite-") {
			t.Errorf("%s is served by %q", url, server)
		}
	}
}

func TestAzuriteEndsAfterItsLastUserEndsForAnyReason(t *testing.T) {
	t.Parallel()
	ends := map[string]func(p *process){
		"exit":    func(p *process) { p.stdin.Close() },
		"panic":   func(p *process) { p.stdin.Close() },
		"killed":  func(p *process) { p.cmd.Process.Kill() },
		"Ctrl-C":  func(p *process) { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT) },
		"hung up": func(p *process) { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGHUP) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := "hold"
			if name == "panic" {
				role = name
			}
			endsWith(t, role, end)
		})
	}
}

// A process that is started under nohup, or in the background of a shell, inherits that SIGHUP or SIGINT is ignored.
func TestTheTestsOfTheEndDoNotDependOnIgnoredSignals(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			endsWith(t, "nohup", func(p *process) { syscall.Kill(-p.cmd.Process.Pid, s) })
		})
	}
}

// endsWith ends the only user of an Azurite, and waits for the end of Azurite.
func endsWith(t *testing.T, role string, end func(*process)) {
	t.Helper()
	p := startProcess(t, realSite(t), role)
	gone := watchEnd(t, p.at)
	end(p)
	gone.wait(t)
}

func TestAzuriteOutlivesTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	first := startProcess(t, s, "hold")
	second := startProcess(t, s, "hold")
	syscall.Kill(-first.cmd.Process.Pid, syscall.SIGINT)
	first.cmd.Wait()
	third := startProcess(t, s, "hold")
	assert.Equal(t, third.at, second.at, "the second process is connected to", "the third to")
	end := watchEnd(t, third.at)
	second.stdin.Close()
	third.stdin.Close()
	end.wait(t)
}

func TestAKilledAzuriteIsReplaced(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	first := startProcess(t, s, "hold")
	end := watchEnd(t, first.at)
	syscall.Kill(first.at.PID, syscall.SIGKILL)
	end.wait(t)
	second := startProcess(t, s, "hold")
	if second.at.PID == first.at.PID {
		t.Fatal("connected to the Azurite that was killed")
	}
	end = watchEnd(t, second.at)
	second.stdin.Close()
	end.wait(t)
}

func TestErrReportsThatAzuriteHasEnded(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	a := assert.Must(s.start(t.Context()))(t)
	defer a.Close()
	assert.NoError(t, a.Err())
	assert.NoError(t, os.WriteFile(s.logFile(), []byte("last output"), 0o600))
	syscall.Kill(a.PID(), syscall.SIGKILL)
	<-a.ended
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "last output") {
		t.Errorf("got %v", err)
	}
}

func TestATerminatedAzuriteRemovesItsRendezvousFile(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	p := startProcess(t, s, "hold")
	end := watchEnd(t, p.at)
	syscall.Kill(p.at.PID, syscall.SIGTERM)
	end.wait(t)
	assert.WantError(t, assert.ErrorOf(os.Stat(s.rendezvousFile())), os.ErrNotExist, "the rendezvous file was not removed")
}

func TestAStaleRendezvousFileIsReplaced(t *testing.T) {
	t.Parallel()
	stranger := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { stranger.Close() })
	go func() { // echoes its input, the most misleading answer of an unrelated program
		for {
			conn, err := stranger.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(conn, conn)
				conn.Close()
			}()
		}
	}()
	closed := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()

	file := func(l net.Listener) []byte {
		text := assert.Must(json.Marshal(rendezvous{PID: os.Getpid(), Control: l.Addr().(*net.TCPAddr).Port, Token: "token"}))(t)
		return text
	}
	for name, content := range map[string][]byte{
		"another program uses the port": file(stranger),
		"the port is closed":            file(closed),
		"invalid JSON":                  []byte("{"),
		"empty":                         nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := realSite(t)
			assert.NoError(t, os.WriteFile(s.rendezvousFile(), content, 0o600))
			p := startProcess(t, s, "hold")
			end := watchEnd(t, p.at)
			p.stdin.Close()
			end.wait(t)
		})
	}
}

func TestAWrongTokenIsRejected(t *testing.T) {
	t.Parallel()
	s := realSite(t)
	p := startProcess(t, s, "hold")
	text, err := os.ReadFile(s.rendezvousFile())
	assert.NoError(t, err)
	var meet rendezvous
	assert.NoError(t, json.Unmarshal(text, &meet))
	meet.Token = strings.Repeat("x", len(meet.Token))
	if text, err = json.Marshal(meet); err != nil {
		t.Fatal(err)
	}
	assert.NoError(t, os.WriteFile(s.rendezvousFile(), text, 0o600))
	if a, err := s.join(t.Context()); err == nil {
		a.Close()
		t.Error("a wrong token was accepted")
	}
	end := watchEnd(t, p.at)
	p.stdin.Close()
	end.wait(t)
}
