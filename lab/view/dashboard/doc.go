// Package dashboard serves the pages of a run under way: a server on loopback that shows the live picture to anyone
// with the run's token, and accepts changes of the load.
//
//	GET  /?token=…       exchanges the token for a cookie and goes to /
//	GET  /               the page; /web/… are its files
//	GET  /events         what is new, as server-sent events; ids are the picture's numbers
//	GET  /report         the run's report, once there is one
//	POST /users          {"users": 120}
//	POST /pause, /resume, /end
package dashboard
