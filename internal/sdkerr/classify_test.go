package sdkerr

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
)

func TestClassifyReturnsTheSentinelOfStatusAndCode(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "ResourceNotFound", azerr.ErrNotFound},
		{404, "TableNotFound", azerr.ErrTableNotFound},
		{409, "TableBeingDeleted", azerr.ErrTableNotFound},
		{409, "EntityAlreadyExists", azerr.ErrExists},
		{412, "UpdateConditionNotSatisfied", azerr.ErrConflict},
		{400, "EntityTooLarge", azerr.ErrTooLarge},
		{500, "OperationTimedOut", nil},
		{400, "InvalidInput", nil},

		{404, "QueueNotFound", azerr.ErrQueueNotFound},
		{404, "MessageNotFound", azerr.ErrMessageLost},
		{400, "PopReceiptMismatch", azerr.ErrMessageLost},
		{413, "MessageTooLarge", azerr.ErrTooLarge},

		{404, "BlobNotFound", azerr.ErrNotFound},
		{409, "BlobAlreadyExists", azerr.ErrExists},
		{404, "ContainerNotFound", azerr.ErrContainerNotFound},
		{409, "ContainerBeingDeleted", azerr.ErrContainerNotFound},
		{412, "AppendPositionConditionNotMet", azerr.ErrConflict},
		{412, "ConditionNotMet", azerr.ErrConflict},

		{503, "ServerBusy", azerr.ErrThrottled},
		{503, "", azerr.ErrThrottled},
		{429, "", azerr.ErrThrottled},
		{413, "", azerr.ErrTooLarge},
		{404, "UnknownCode", nil},
		{404, "", azerr.ErrBadReply},
		{409, "", azerr.ErrBadReply},
		{412, "", azerr.ErrBadReply},
		{500, "", azerr.ErrBadReply},
		{200, "", azerr.ErrBadReply},
	} {
		assert.Equal(t, Classify(c.status, c.code), c.want, c.status, c.code)
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
		assert.Equal(t, Definite(c.status, c.code), c.want, fmt.Sprint(c.status, " ", c.code))
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
		"no reply":          {errors.New("connection reset"), true, azerr.ErrOutcomeUnknown},
		"internal error":    {reply(http.StatusInternalServerError, "InternalError"), true, azerr.ErrOutcomeUnknown},
		"server busy":       {reply(http.StatusServiceUnavailable, ServerBusy), false, azerr.ErrThrottled},
		"forbidden":         {reply(http.StatusForbidden, "AuthorizationFailure"), false, nil},
		"page of a gateway": {reply(http.StatusNotFound, ""), true, azerr.ErrOutcomeUnknown},
		"failed condition":  {reply(http.StatusPreconditionFailed, "ConditionNotMet"), false, azerr.ErrConflict},
	} {
		if e := NewWrite("insert", c.err); e.Unsure != c.unsure || e.Kind != c.kind {
			t.Errorf("%s: unsure %v, kind %v", name, e.Unsure, e.Kind)
		}
	}
}
