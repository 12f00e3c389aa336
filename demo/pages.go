package demo

import "html/template"

func document(title, body string) *template.Template {
	return template.Must(template.New(title).Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>` + title + `</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}nav a{margin-right:1rem}</style>
<nav aria-label="Main"><a href="/">Reading room</a><a href="/notes">My notes</a></nav><main>` + body + `</main></html>`))
}

//nolint:gochecknoglobals // parsed once: the site's fixed pages
var (
	home = document("Reading room", `<h1>Reading room</h1>
<p>Tide tables for everybody. <a href="/notes">My notes</a> are for members.</p>
<table><caption>Tides today</caption><tr><th>Time</th><th>Height</th></tr><tr><td>04:12</td><td>3.1 m</td></tr><tr><td>16:40</td><td>2.9 m</td></tr></table>`)
	login = document("Sign in", `<h1>Sign in</h1>
<form method="post" action="/login"><label>Name <input name="name" autocomplete="username"></label> <button>Sign in</button></form>`)
	notes = document("My notes", `<h1>My notes</h1>
<ul><li><a href="/notes/harbour">Harbour survey</a></li><li>Order new ropes</li></ul>
<form method="post" action="/notes"><label>New note <input name="text"></label> <button>Save note</button></form>`)
	harbour = document("Harbour survey", `<h1>Harbour survey</h1><p>The channel is 4.2 metres deep at low water. Berth 7 is free until Friday.</p>`)
)
