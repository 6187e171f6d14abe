package azerr

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

func TestClassifyReturnsTheSentinelOfStatusAndCode(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "ResourceNotFound", ErrNotFound},
		{404, "TableNotFound", ErrTableNotFound},
		{409, "TableBeingDeleted", ErrTableNotFound},
		{409, "EntityAlreadyExists", ErrExists},
		{412, "UpdateConditionNotSatisfied", ErrConflict},
		{400, "EntityTooLarge", ErrTooLarge},
		{500, "OperationTimedOut", nil},
		{400, "InvalidInput", nil},

		{404, "QueueNotFound", ErrQueueNotFound},
		{404, "MessageNotFound", ErrMessageLost},
		{400, "PopReceiptMismatch", ErrMessageLost},
		{413, "MessageTooLarge", ErrTooLarge},

		{404, "BlobNotFound", ErrNotFound},
		{409, "BlobAlreadyExists", ErrExists},
		{404, "ContainerNotFound", ErrContainerNotFound},
		{409, "ContainerBeingDeleted", ErrContainerNotFound},
		{412, "AppendPositionConditionNotMet", ErrConflict},
		{412, "ConditionNotMet", ErrConflict},

		{503, "ServerBusy", ErrThrottled},
		{503, "", ErrThrottled},
		{429, "", ErrThrottled},
		{413, "", ErrTooLarge},
		{404, "UnknownCode", nil},
		{404, "", ErrBadReply},
		{409, "", ErrBadReply},
		{412, "", ErrBadReply},
		{500, "", ErrBadReply},
		{200, "", ErrBadReply},
	} {
		if got := Classify(c.status, c.code); got != c.want {
			t.Errorf("%d %q: got %v, want %v", c.status, c.code, got, c.want)
		}
	}
}

func TestDefiniteIsFalseIfTheRequestMayHaveBeenCarriedOut(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   bool
	}{
		{http.StatusOK, "", false},
		{http.StatusNotFound, "", false},
		{http.StatusConflict, "", false},
		{http.StatusPreconditionFailed, "", false},
		{http.StatusConflict, "EntityAlreadyExists", true},
		{http.StatusRequestTimeout, "", false},
		{http.StatusTooManyRequests, "", false},
		{http.StatusTooManyRequests, "TooManyRequests", true},
		{http.StatusInternalServerError, "OperationTimedOut", false},
		{http.StatusNotImplemented, "NotImplemented", true},
		{http.StatusServiceUnavailable, "", false},
		{http.StatusFound, "", false},
		{http.StatusTemporaryRedirect, "EntityNotFound", false},
		{http.StatusNotModified, "ConditionNotMet", true},
		{http.StatusServiceUnavailable, ServerBusy, true},
	} {
		if got := Definite(c.status, c.code); got != c.want {
			t.Errorf("%s: got %v", fmt.Sprint(c.status, " ", c.code), got)
		}
	}
}

func TestAWriteWithoutADefiniteReplyHasAnUnknownOutcome(t *testing.T) {
	reply := func(status int, code string) error {
		return &azcore.ResponseError{StatusCode: status, ErrorCode: code}
	}
	for name, c := range map[string]struct {
		err    error
		unsure bool
		kind   error
	}{
		"no reply":          {errors.New("connection reset"), true, ErrOutcomeUnknown},
		"internal error":    {reply(http.StatusInternalServerError, "InternalError"), true, ErrOutcomeUnknown},
		"server busy":       {reply(http.StatusServiceUnavailable, ServerBusy), false, ErrThrottled},
		"forbidden":         {reply(http.StatusForbidden, "AuthorizationFailure"), false, nil},
		"page of a gateway": {reply(http.StatusNotFound, ""), true, ErrOutcomeUnknown},
		"failed condition":  {reply(http.StatusPreconditionFailed, "ConditionNotMet"), false, ErrConflict},
	} {
		if e := NewWrite("insert", c.err); e.Unsure != c.unsure || e.Kind != c.kind {
			t.Errorf("%s: unsure %v, kind %v", name, e.Unsure, e.Kind)
		}
	}
}
