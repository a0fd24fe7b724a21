// Answers, for each line of JSON, which credentials the kubelet's own code chooses for an image.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/credentialprovider"
	"k8s.io/kubernetes/pkg/credentialprovider/secrets"
)

type question struct {
	// With its registry, without tag and digest.
	Image   string
	Secrets []struct {
		Type v1.SecretType
		Data string
	}
}

type answer struct {
	// Null if a Secret cannot be read.
	Credentials []string
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		encoder.Encode(answer{credentialsFor(asked)})
	}
}

func credentialsFor(asked question) []string {
	var all []v1.Secret
	for _, secret := range asked.Secrets {
		key := v1.DockerConfigJsonKey
		if secret.Type == v1.SecretTypeDockercfg {
			key = v1.DockerConfigKey
		}
		all = append(all, v1.Secret{Type: secret.Type, Data: map[string][]byte{key: []byte(secret.Data)}})
	}
	keyring, err := secrets.MakeDockerKeyring(all, &credentialprovider.BasicDockerKeyring{})
	if err != nil {
		return nil
	}
	found, _ := keyring.Lookup(asked.Image)
	credentials := []string{}
	for _, entry := range found {
		credentials = append(credentials, entry.Username+":"+entry.Password)
	}
	return credentials
}
