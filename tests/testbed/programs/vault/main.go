// Vault with the few plugins that the tests use. Built with -tags minimal, which leaves out every
// plugin that is not part of Vault's own module: three of those are put back.
package main

import (
	"os"
	"reflect"
	"unsafe"

	jwt "github.com/hashicorp/vault-plugin-auth-jwt"
	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	"github.com/hashicorp/vault/command"
	"github.com/hashicorp/vault/helper/builtinplugins"
	"github.com/hashicorp/vault/plugins/database/postgresql"
	"github.com/hashicorp/vault/sdk/logical"
)

func main() {
	register("credentialBackends", "jwt", logical.Factory(jwt.Factory))
	register("credentialBackends", "kubernetes", logical.Factory(kubernetes.Factory))
	register("databasePlugins", "postgresql-database-plugin", postgresql.New)
	os.Exit(command.Run(os.Args[1:]))
}

// register writes to a map of the builtin registry. The registry is exported and its maps are not:
// there is no other way in for a program that wraps Vault.
func register(kind, name string, factory any) {
	field := reflect.ValueOf(builtinplugins.Registry).Elem().FieldByName(kind)
	plugins := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	plugin := reflect.New(plugins.Type().Elem()).Elem()
	slot := plugin.FieldByName("Factory")
	slot.Set(reflect.ValueOf(factory).Convert(slot.Type()))
	plugins.SetMapIndex(reflect.ValueOf(name), plugin)
}
