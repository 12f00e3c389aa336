package web

import "github.com/gin-gonic/gin"

// Registered lists what gin serves with these options, and the addresses of the dashboard's files.
func Registered(o Options) (gin.RoutesInfo, error) {
	s, err := newSite(o)
	if err != nil {
		return nil, err
	}
	return s.router().Routes(), nil
}
