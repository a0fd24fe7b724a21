// Checks an OLM bundle folder with OLM's own validators and prints what they say, one finding a line.
package main

import (
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
)

func main() {
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	// All that need no image: the check of architectures pulls every one.
	all := interfaces.Validators{
		validation.ClusterServiceVersionValidator,
		validation.CustomResourceDefinitionValidator,
		validation.BundleValidator,
		validation.OperatorHubV2Validator,
		validation.StandardCapabilitiesValidator,
		validation.StandardCategoriesValidator,
		validation.GoodPracticesValidator,
	}
	objects := bundle.ObjectsToValidate()
	for _, object := range bundle.Objects {
		objects = append(objects, object)
	}
	seen := map[string]bool{}
	for _, result := range all.Validate(objects...) {
		for _, finding := range append(result.Errors, result.Warnings...) {
			line := fmt.Sprintf("%s: %s", finding.Level, finding.Error())
			if !seen[line] {
				fmt.Println(line)
			}
			seen[line] = true
		}
	}
}
