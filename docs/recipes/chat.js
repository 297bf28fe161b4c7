// The rules that nginx's directives cannot express: only listed headers and only JSON are returned to the browser.
// For njs 0.7 or newer.

const CALLS = {
    'GET /connector/chat/config': '/chat/config',
    'GET /connector/chat/messages': '/chat/messages',
    'POST /connector/chat/messages': '/chat/messages',
    'GET /connector/chat/presence': '/chat/presence',
    'POST /connector/events': '/events',
};
const PASSED_BACK = ['Retry-After', 'X-Request-Id', 'X-Service-API-Version', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
const JSON_TYPE = /^application\/json\s*(;|$)/i;

function refuse(r, status, code, message) {
    const requestId = `proxy_${r.variables.request_id}`;
    r.headersOut['Content-Type'] = 'application/json';
    r.headersOut['X-Request-Id'] = requestId;
    r.return(status, JSON.stringify({ ok: false, error: { code, message }, requestId }));
}

/** Returns true for complete JSON. A truncated response cannot be parsed. */
function isJson(answer) {
    try {
        JSON.parse(answer.responseText);
        return JSON_TYPE.test(answer.headersOut['Content-Type']) && !answer.headersOut['Content-Encoding'];
    } catch (error) {
        return false;
    }
}

async function call(r) {
    const path = CALLS[`${r.method} ${r.uri}`];
    if (!path) return refuse(r, 404, 'NOT_FOUND', 'This path does not exist.');
    // A page of another site cannot send JSON without a preflight request. This check blocks its forms.
    if (r.method === 'POST' && !JSON_TYPE.test(r.headersIn['Content-Type'])) {
        return refuse(r, 415, 'INVALID_REQUEST', 'Content-Type must be application/json.');
    }
    const options = { method: r.method, args: r.variables.args || '' };
    if (r.method === 'GET') options.body = '';
    const answer = await r.subrequest(`/.chat-service${path}`, options);
    const status = answer.status;
    if (status < 200 || (status >= 300 && status < 400) || status >= 600) {
        return refuse(r, 502, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
    }
    PASSED_BACK.forEach((name) => { if (answer.headersOut[name]) r.headersOut[name] = answer.headersOut[name]; });
    if (status === 504) return refuse(r, 504, 'UPSTREAM_TIMEOUT', 'The chat service did not answer in time.');
    if (!isJson(answer)) return refuse(r, status < 400 ? 502 : status, 'UPSTREAM_UNAVAILABLE', 'The chat service cannot be reached.');
    r.headersOut['Content-Type'] = 'application/json';
    r.return(status, answer.responseBuffer);
}

export default { call };
