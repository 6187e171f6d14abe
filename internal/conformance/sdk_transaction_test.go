package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// numbered inserts n rows into a partition, in transactions.
func numbered(s *session, pk string, n int) error {
	var actions []aztables.TransactionAction
	for i := range n {
		actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity(pk, fmt.Sprintf("%04d", i), map[string]any{"N": i})})
		if len(actions) == 100 || i == n-1 {
			if _, err := s.table.SubmitTransaction(s.ctx, actions, nil); err != nil {
				return err
			}
			actions = nil
		}
	}
	return nil
}

var transactionPrograms = []program{
	{"a transaction of every kind", func(s *session) error {
		for _, rk := range []string{"1", "2", "3", "4"} {
			if err := s.put("p", rk, map[string]any{"A": 1}); err != nil {
				return err
			}
		}
		b := map[string]any{"B": 2}
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "0", b)},
			{ActionType: aztables.TransactionTypeUpdateMerge, Entity: entity("p", "1", b), IfMatch: to.Ptr(azcore.ETagAny)},
			{ActionType: aztables.TransactionTypeUpdateReplace, Entity: entity("p", "2", b), IfMatch: to.Ptr(azcore.ETagAny)},
			{ActionType: aztables.TransactionTypeInsertMerge, Entity: entity("p", "3", b)},
			{ActionType: aztables.TransactionTypeDelete, Entity: entity("p", "4", nil)},
			{ActionType: aztables.TransactionTypeInsertReplace, Entity: entity("p", "5", b)},
		}, nil)
		if err != nil {
			return err
		}
		keys, _, err := s.rows("B eq 2", 0)
		kept, _, keptErr := s.rows("A eq 1", 0)
		return errors.Join(err, keptErr, same("changed", keys, []string{"p/0", "p/1", "p/2", "p/3", "p/5"}), same("merged", kept, []string{"p/1", "p/3"}))
	}},
	{"a transaction of 100", func(s *session) error {
		if err := numbered(s, "p", 100); err != nil {
			return err
		}
		keys, _, err := s.rows("", 0)
		return errors.Join(err, same("rows", len(keys), 100))
	}},
	{"a transaction of 101", func(s *session) error {
		var actions []aztables.TransactionAction
		for i := range 101 {
			actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", fmt.Sprint(i), nil)})
		}
		_, err := s.table.SubmitTransaction(s.ctx, actions, nil)
		var refusal *azcore.ResponseError
		if !errors.As(err, &refusal) {
			return fmt.Errorf("%w, want a refusal", orNothing(err))
		}
		return same("the code is in the text", strings.Contains(refusal.Error(), string(aztables.InvalidInput)), true)
	}},
	{"a transaction that fails changes nothing", func(s *session) error {
		if err := s.put("p", "there", nil); err != nil {
			return err
		}
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "new", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "there", nil)},
		}, nil)
		var refusal *azcore.ResponseError
		if !errors.As(err, &refusal) {
			return fmt.Errorf("%w, want a refusal", orNothing(err))
		}
		keys, _, err := s.rows("", 0)
		return errors.Join(err, same("rows", keys, []string{"p/there"}), same("the code is in the text", strings.Contains(refusal.Error(), string(aztables.EntityAlreadyExists)), true))
	}},
	{"a transaction of two partitions", func(s *session) error {
		_, err := s.table.SubmitTransaction(s.ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("p", "1", nil)},
			{ActionType: aztables.TransactionTypeAdd, Entity: entity("q", "1", nil)},
		}, nil)
		if err == nil {
			return errors.New("it was taken")
		}
		keys, _, err := s.rows("", 0)
		return errors.Join(err, same("rows", len(keys), 0))
	}},
}
