package web

import (
	"github.com/gin-gonic/gin"

	"chaperone/server/fault"
)

// StatusOf is the table from code to status; known tells whether the table has it.
func StatusOf(code fault.Code) (status int, known bool) {
	status, known = statuses()[code]
	return status, known
}

// Registered lists what gin serves with these options, and the addresses of the dashboard's files.
func Registered(o Options) (gin.RoutesInfo, error) {
	s, err := newSite(o)
	if err != nil {
		return nil, err
	}
	return s.router().Routes(), nil
}
