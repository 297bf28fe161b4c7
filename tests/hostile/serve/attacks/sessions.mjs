// Attacks on sessions: fixation, forged and doubled cookies, guessing, and finding out who has an account.

import { ADMIN, OWNER } from "../program.mjs";

const STRANGER = "X".repeat(43);
let hosts = 0;
/** Returns an address of this machine that no other attempt has used. */
const address = () => {
  hosts += 1;
  return `127.1.${hosts >> 8}.${hosts & 255}`;
};

const signIn = (program, { email = OWNER.email, password = OWNER.password, ...options } = {}) =>
  program.call("POST", `${ADMIN}/session`, { email, password }, { from: address(), ...options });
const who = (program, cookie) => program.call("GET", `${ADMIN}/session`, undefined, { headers: { Cookie: cookie } });

/** Creates an operator, and returns its address. */
async function operator(program, email, { disabled = false } = {}) {
  const { data } = await program.admin("POST", "/invitations", { email, role: "agent" });
  const token = data.link.split("#setup=")[1];
  const account = { token, name: "Somebody", password: OWNER.password };
  const made = await program.call("POST", `${ADMIN}/setup`, account, { from: address() });
  if (disabled) await program.admin("PATCH", `/operators/${made.data.operator.id}`, { disabled: true });
  return email;
}

/** Returns what an attacker sees of a response, apart from its time. */
const seen = ({ status, headers, json }) =>
  JSON.stringify([status, headers.map(([name]) => name).sort(), json?.error, json?.data]);

/** The best of some attempts, in milliseconds: other work on the machine only adds to it. Fewer than slow an account down. */
const ATTEMPTS = 3;
/** Maximum ratio of the times of accounts that exist and that do not. Without the same work, it would be over 10. */
const MAX_RATIO = 4;
/** Maximum difference of responses that take some milliseconds. */
const MAX_DIFFERENCE_MS = 100;
async function fastest(attempt) {
  const times = [];
  for (let n = 0; n < ATTEMPTS; n += 1) times.push((await attempt(n)).ms);
  return Math.min(...times);
}

export const sessions = [
  {
    name: "a session that the attacker has chosen is not taken over (fixation)",
    async run(program) {
      const name = Object.keys(program.cookies).find((cookie) => cookie.endsWith("session"));
      const victim = await signIn(program, { headers: { Cookie: `${name}=${STRANGER}` } });
      const fixed = victim.cookies[name];
      const old = await who(program, `${name}=${STRANGER}`);
      const fresh = await who(program, `${name}=${fixed}`);
      return [
        ...(victim.status === 200 && fixed && fixed !== STRANGER ? [] : ["signing in kept the session"]),
        ...(old.status === 401 ? [] : ["the attacker's session is valid"]),
        ...(fresh.status === 200 ? [] : ["the new session is not valid"]),
      ];
    },
  },
  {
    name: "cookies have every attribute that protects them",
    async run(program) {
      const isPublic = !program.host.startsWith("127.");
      const wanted = isPublic
        ? /^__Host-(session|device)=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/
        : /^(session|device)=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/;
      const { set } = await signIn(program);
      return set.length === 2 && set.every((cookie) => wanted.test(cookie)) ? [] : ["the cookies lack protection"];
    },
  },
  {
    name: "doubled, renamed and decorated cookies are no session",
    async run(program) {
      const [name, value] = [
        Object.keys(program.cookies).find((cookie) => cookie.endsWith("session")),
        program.session,
      ];
      const other = name === "session" ? "__Host-session" : "session";
      const cookies = [
        `${name}=${value}; ${name}=${STRANGER}`,
        `${name}=${STRANGER}; ${name}=${value}`,
        [`${name}=${value}`, `${name}=${STRANGER}`],
        `${name.toUpperCase()}=${value}`,
        `${other}=${value}`,
        `x${name}=${value}`,
        `a=${name}=${value}`,
        `${name}="${value}"`,
        `${name}=${value}x`,
        `${name}=${value.slice(1)}`,
        `${name}=${value},${name}=${value}`,
        `$Version=1; $${name}=${value}`,
        `${name}=`,
        `${name}=${value}%00`,
        `${name}=' OR 1=1 --`,
        `${name}=${"x".repeat(20_000)}`,
        `${"a=b; ".repeat(3000)}${name}=${STRANGER}`,
      ];
      const problems = [];
      for (const cookie of cookies) {
        const { status } = await who(program, cookie);
        if (status !== 401) problems.push(`${String(cookie).slice(0, 40)} was answered with ${status}`);
      }
      const { status } = await who(program, `${name}=${value}`);
      return status === 200 ? problems : [...problems, "the session itself is not valid any more"];
    },
  },
  {
    name: "unknown, wrong and disabled accounts look the same and take as long",
    async run(program) {
      const disabled = await operator(program, "disabled@shop.example", { disabled: true });
      const wrong = { password: "another password than hers 7" };
      const unknown = await signIn(program, { email: "nobody@shop.example", ...wrong });
      const known = await signIn(program, wrong);
      const gone = await signIn(program, { email: disabled });
      const same = [known, gone].every((one) => seen(one) === seen(unknown)) && unknown.status === 401;
      const known_ms = await fastest(() => signIn(program, wrong));
      const unknown_ms = await fastest((n) => signIn(program, { email: `nobody-${n}@shop.example`, ...wrong }));
      const similar = unknown_ms > known_ms / MAX_RATIO && known_ms > unknown_ms / MAX_RATIO;
      await signIn(program);
      return [
        ...(same ? [] : [`they differ: ${[unknown, known, gone].map(seen).join(" ")}`]),
        ...(similar ? [] : [`a known address takes ${known_ms} ms, an unknown one ${unknown_ms} ms`]),
      ];
    },
  },
  {
    name: "asking for a new password does not tell who has an account",
    async run(program) {
      const forgot = (email) => program.call("POST", `${ADMIN}/password/forgot`, { email }, { from: address() });
      const [known, unknown] = [await forgot(OWNER.email), await forgot("nobody@shop.example")];
      const known_ms = await fastest(() => forgot(OWNER.email));
      const unknown_ms = await fastest((n) => forgot(`nobody-${n}@shop.example`));
      return [
        ...(seen(known) === seen(unknown) && known.status === 200
          ? []
          : [`they differ: ${seen(known)} ${seen(unknown)}`]),
        ...(Math.abs(known_ms - unknown_ms) < MAX_DIFFERENCE_MS
          ? []
          : [`known ${known_ms} ms, unknown ${unknown_ms} ms`]),
      ];
    },
  },
  {
    name: "guessing at all accounts from one address is slowed down, whatever address it claims",
    async run(program) {
      const from = address();
      let allowed = 0;
      for (let n = 0; n < 26; n += 1) {
        const claimed = `198.51.100.${n}`;
        const headers = { "X-Forwarded-For": claimed, "X-Real-IP": claimed, Forwarded: `for=${claimed}` };
        const guess = await signIn(program, { email: `guess-${n}@shop.example`, password: "guess", from, headers });
        if (guess.status !== 429) allowed += 1;
      }
      const other = await signIn(program);
      return [
        ...(allowed <= 22 ? [] : [`${allowed} of 26 guesses were checked`]),
        ...(other.status === 200 ? [] : ["another address is slowed down as well"]),
      ];
    },
  },
  {
    name: "guessing at one account from everywhere is slowed down, except for the browser that knows it",
    async run(program) {
      const email = await operator(program, "guessed@shop.example");
      const home = await signIn(program, { email });
      const guesses = [];
      for (let n = 0; n < 12; n += 1) guesses.push(await signIn(program, { email, password: `guess ${n}` }));
      const refused = guesses.filter(({ status }) => status === 429);
      const waits = refused.map(({ headers }) => Number(headers.find(([name]) => name === "retry-after")?.[1]));
      const right = await signIn(program, { email });
      const device = Object.entries(home.cookies).find(([name]) => name.endsWith("device"));
      const known = await signIn(program, { email, headers: { Cookie: device.join("=") } });
      return [
        ...(refused.length >= 3 && waits.every((wait) => wait >= 1)
          ? []
          : [`${refused.length} of 12 guesses were refused`]),
        ...(right.status === 429 ? [] : [`the right password is told apart meanwhile: ${right.status}`]),
        ...(known.status === 200 ? [] : ["the owner's own browser is locked out"]),
      ];
    },
  },
];
