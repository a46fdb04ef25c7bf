// A program that uses Vault through Go's own client and knows nothing of nemutator: VAULT_ADDR says
// where Vault is. It prints what it got, or ends at the first step that fails.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/vault/api"
)

// For so long it waits for a renewal, which comes at once where all is well.
const patience = time.Minute

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: vault-client FOLDER KEY LENDER")
		os.Exit(2)
	}
	client, err := api.NewClient(api.DefaultConfig())
	check("make a client", err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	folder, key, lender := os.Args[1], os.Args[2], os.Args[3]
	documents(ctx, client, folder)
	transit(ctx, client, key)
	wrapping(ctx, client, folder)
	lease(ctx, client, lender)
	refusals(ctx, client)
}

func documents(ctx context.Context, client *api.Client, folder string) {
	engine := client.KVv2("secret")
	_, err := engine.Put(ctx, folder+"/go", map[string]any{"word": "written"})
	check("write a document", err)
	secret, err := engine.Get(ctx, folder+"/go")
	check("read a document", err)
	fmt.Println("read", secret.Data["word"], secret.VersionMetadata.Version)
	listed, err := client.Logical().ListWithContext(ctx, "secret/metadata/"+folder)
	check("list", err)
	fmt.Println("listed", listed.Data["keys"])
}

func transit(ctx context.Context, client *api.Client, key string) {
	plain := base64.StdEncoding.EncodeToString([]byte("hello"))
	sealed, err := client.Logical().WriteWithContext(ctx, "transit/encrypt/"+key, map[string]any{"plaintext": plain})
	check("encrypt", err)
	opened, err := client.Logical().WriteWithContext(
		ctx, "transit/decrypt/"+key, map[string]any{"ciphertext": sealed.Data["ciphertext"]})
	check("decrypt", err)
	fmt.Println("decrypted", opened.Data["plaintext"] == plain)
}

func wrapping(ctx context.Context, client *api.Client, folder string) {
	wrapper, err := client.Clone()
	check("clone the client", err)
	wrapper.SetWrappingLookupFunc(func(string, string) string { return "60s" })
	wrapped, err := wrapper.Logical().ReadWithContext(ctx, "secret/data/"+folder+"/go")
	check("wrap", err)
	opened, err := client.Logical().UnwrapWithContext(ctx, wrapped.WrapInfo.Token)
	check("unwrap", err)
	fmt.Println("unwrapped", opened.Data["data"])
}

func lease(ctx context.Context, client *api.Client, lender string) {
	lent, err := client.Logical().ReadWithContext(ctx, lender)
	check("read what is lent", err)
	watcher, err := client.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: lent})
	check("watch the lease", err)
	go watcher.Start()
	defer watcher.Stop()
	select {
	case renewal := <-watcher.RenewCh():
		fmt.Println("renewed", renewal.Secret.LeaseID == lent.LeaseID)
	case err := <-watcher.DoneCh():
		check("renew", errors.Join(errors.New("the watcher has ended"), err))
	case <-time.After(patience):
		check("renew", errors.New("no renewal came"))
	}
	again, err := client.Logical().ReadWithContext(ctx, lender)
	check("read again", err)
	fmt.Println("lent once", again.LeaseID == lent.LeaseID)
	check("end the lease", client.Sys().RevokeWithContext(ctx, lent.LeaseID))
}

func refusals(ctx context.Context, client *api.Client) {
	_, created := client.Auth().Token().CreateWithContext(ctx, &api.TokenCreateRequest{})
	_, login := client.Logical().WriteWithContext(
		ctx, "auth/kubernetes/login", map[string]any{"role": "x", "jwt": "y"})
	revoked := client.Sys().RevokeWithContext(ctx, "database/creds/others/abc")
	_, mounts := client.Sys().ListMountsWithContext(ctx)
	sealed := client.Sys().SealWithContext(ctx)
	for _, tried := range []struct {
		what string
		err  error
	}{
		{"token", created}, {"login", login}, {"revoke", revoked}, {"mounts", mounts}, {"seal", sealed},
	} {
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
