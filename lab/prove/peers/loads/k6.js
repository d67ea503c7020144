// One request with a session token, in k6's own words.
import http from 'k6/http';
import { sleep } from 'k6';

const users = Number(__ENV.USERS);
const think = Number(__ENV.THINK);
const rate = Number(__ENV.RATE);

export const options = {
  // What k6's documentation advises for large loads.
  discardResponseBodies: true,
  summaryTrendStats: ['avg', 'med', 'p(95)', 'p(99)', 'max'],
  scenarios: {
    load: rate > 0
      ? {
          executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration: `${__ENV.SECONDS}s`,
          preAllocatedVUs: users, maxVUs: users, gracefulStop: '5s',
        }
      : {
          executor: 'ramping-vus', startVUs: 0, gracefulStop: '1s', gracefulRampDown: '0s',
          stages: [
            { duration: '0s', target: users },
            { duration: `${__ENV.SECONDS}s`, target: users },
          ],
        },
  },
};

export default function () {
  if (think > 0 && __ITER === 0) sleep(Math.random() * think);
  http.get(`${__ENV.BASE}/v1/cards/7`, { headers: { Authorization: 'Bearer bench', 'X-User': String(__VU - 1) } });
  if (think > 0) sleep(think);
}

export function handleSummary(data) {
  return { [__ENV.SUMMARY]: JSON.stringify(data) };
}
