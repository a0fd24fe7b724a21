// Prints what kstatus says about each object of a JSON array on standard input, a line each: status, tab, message.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	var objects []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		fail(err)
	}
	for _, object := range objects {
		// As in a client of Kubernetes, whole numbers are int64.
		text, err := json.Marshal(object)
		if err != nil {
			fail(err)
		}
		var typed unstructured.Unstructured
		if err := typed.UnmarshalJSON(text); err != nil {
			fail(err)
		}
		result, err := status.Compute(&typed)
		if err != nil {
			fail(err)
		}
		fmt.Printf("%s\t%q\n", result.Status, result.Message)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
