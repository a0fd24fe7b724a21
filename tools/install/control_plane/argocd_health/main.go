// Runs a health script of Argo CD, the first argument, for each object of a JSON array on standard input, and prints a
// line each: status, tab, message. As for a script in argocd-cm, there are Lua's package, base and table libraries and no
// others, the object is the global obj, and a script has one second.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

func main() {
	script, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = printHealth(string(script))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printHealth(script string) error {
	var objects []any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	for _, object := range objects {
		health, err := healthOf(script, object)
		if err != nil {
			return err
		}
		fmt.Printf("%s\t%q\n", lua.LVAsString(health.RawGetString("status")), lua.LVAsString(health.RawGetString("message")))
	}
	return nil
}

func healthOf(script string, object any) (*lua.LTable, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		if err := state.PCall(1, 0, nil); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limited)
	state.SetGlobal("obj", valueOf(state, object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	health, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return nil, errors.New("the script returned no table")
	}
	return health, nil
}

func valueOf(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(valueOf(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, valueOf(state, item))
		}
		return table
	}
	return lua.LNil
}
