package chrome_test

import (
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// What a person would be asked for is answered at once here, by no.
func TestNoPromptHoldsAPageUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": `<button id=go style="position:fixed;inset:0;width:100%">go</button><script>
	const asks = {
		geolocation: () => new Promise((_, no) => navigator.geolocation.getCurrentPosition(() => {}, no)),
		notifications: () => Notification.requestPermission().then(got => { if (got !== 'granted') throw got }),
		camera: () => navigator.mediaDevices.getUserMedia({video: true}),
		microphone: () => navigator.mediaDevices.getUserMedia({audio: true}),
		screen: () => navigator.mediaDevices.getDisplayMedia(),
		clipboard: () => navigator.clipboard.readText(),
		midi: () => navigator.requestMIDIAccess({sysex: true}),
		usb: () => navigator.usb.requestDevice({filters: []}),
		bluetooth: () => navigator.bluetooth.requestDevice({acceptAllDevices: true}),
		serial: () => navigator.serial.requestPort(),
		hid: () => navigator.hid.requestDevice({filters: []}).then(got => { if (got.length === 0) throw 'none' }),
		file: () => showOpenFilePicker(),
		fonts: () => queryLocalFonts().then(got => { if (got.length === 0) throw 'none' }),
		idle: () => IdleDetector.requestPermission().then(got => { if (got !== 'granted') throw got }),
		credential: () => navigator.credentials.get({publicKey: {challenge: new Uint8Array(16), timeout: 1000}}),
		payment: () => new PaymentRequest([{supportedMethods: 'https://pay.test/'}], {total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).show(),
	};
	go.onclick = async () => {
		print();
		const late = new Promise(done => setTimeout(done, 5000, 'late'));
		const one = async ([name, ask]) => [name, await Promise.race([late, (async () => ask())().then(() => 'granted', () => 'no')])];
		const got = await Promise.all(Object.entries(asks).map(one));
		fetch('/tried?' + got.filter(([, how]) => how !== 'no').map(([name, how]) => name + '=' + how).join('&'));
	}</script>`})
	w := newWorld(t, s)
	steps := append([]program.Step{navigate(s.URL + "/"), settle()}, click(2)...)
	run(t, w.open(t, chrome.Interactive), program.NewTab, append(steps, settle())...)
	want := "GET /tried?"
	if w.Binary().Kind == chrome.FullBrowser {
		want += "screen=late" // it waits for a person to choose a screen, and the page goes on
	}
	if !s.waitFor(want) {
		t.Errorf("the site saw %q", s.lines())
	}
}
