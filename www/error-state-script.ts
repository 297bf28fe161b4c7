// `error-state.ts` as a classic script, for a host whose modules no other site may import.

import { diagnose, tell } from "./error-state.js";

const script = document.currentScript as (HTMLScriptElement & { arrive?(module: object): void }) | null;
script?.remove();
script?.arrive?.({ diagnose, tell });
