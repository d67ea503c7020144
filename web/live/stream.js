// The stream of updates. The browser reconnects by itself and says what it saw last.

import { add, picture } from "./picture.js";

/** Calls show after each update, and tell with the state of the connection: on, lost, over, refused. */
export const listen = (show, tell) => {
  const events = new EventSource("/events");
  events.onopen = () => tell("on");
  events.onmessage = (event) => {
    const delta = JSON.parse(event.data);
    add(delta);
    show(delta);
    if (!picture.state.result) return;
    events.close();
    tell("over");
  };
  events.onerror = () => tell(events.readyState === EventSource.CLOSED ? "refused" : "lost");
};

/** Sends a command to the run; returns "" or the error. */
export const command = async (name, body = {}) => {
  try {
    const answer = await fetch(`/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.ok ? "" : (await answer.json()).error;
  } catch {
    return "the run does not respond";
  }
};
