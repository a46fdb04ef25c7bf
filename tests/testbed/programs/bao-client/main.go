// A program that uses OpenBao through its own Go client and knows nothing of nemutator: BAO_ADDR says where
// OpenBao is. It prints what it got, or ends at the first step that fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/openbao/openbao/api/v2"
)

const patience = 2 * time.Minute

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bao-client FOLDER LENDER")
		os.Exit(2)
	}
	client, err := api.NewClient(api.DefaultConfig())
	check("make a client", err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	folder, lender := os.Args[1], os.Args[2]

	engine := client.KVv2("secret")
	_, err = engine.Put(ctx, folder+"/bao", map[string]any{"word": "written"})
	check("write a document", err)
	secret, err := engine.Get(ctx, folder+"/bao")
	check("read a document", err)
	fmt.Println("read", secret.Data["word"], secret.VersionMetadata.Version)

	lent, err := client.Logical().ReadWithContext(ctx, lender)
	check("read what is lent", err)
	renewed, err := client.Sys().RenewWithContext(ctx, lent.LeaseID, 0)
	check("renew", err)
	fmt.Println("renewed", renewed.LeaseID == lent.LeaseID)

	_, created := client.Auth().Token().CreateWithContext(ctx, &api.TokenCreateRequest{})
	_, mounts := client.Sys().ListMountsWithContext(ctx)
	for _, tried := range []struct {
		what string
		err  error
	}{{"token", created}, {"mounts", mounts}} {
		var refused *api.ResponseError
		if !errors.As(tried.err, &refused) {
			check(tried.what, fmt.Errorf("it was not refused: %w", errors.Join(tried.err)))
		}
		fmt.Println("refused", tried.what, refused.StatusCode)
	}
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}
