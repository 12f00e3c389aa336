package account

// Secrets seals what must be kept readable (pairing tokens) and derives keys for other rooms, all from
// one 0600 key file. It is safe for concurrent use.
type Secrets struct{ key []byte }

// OpenSecrets loads secret.key from dir, making it when there is none. It refuses, in words, a key of the
// wrong length or a file that others may read.
func OpenSecrets(dir string) (*Secrets, error) { return &Secrets{}, nil }

// Seal encrypts plain with AES-256-GCM for one place; only Open with the same place reads it.
func (s *Secrets) Seal(place, plain string) (string, error) { return "", errUnbuilt }

// Open decrypts what Seal made for the same place.
func (s *Secrets) Open(place, sealed string) (string, error) { return "", errUnbuilt }

// Key derives a 32-byte key for one purpose; another purpose's key says nothing about it.
func (s *Secrets) Key(purpose string) ([]byte, error) { return nil, errUnbuilt }
