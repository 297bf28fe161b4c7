// `error-state.ts` as a classic script, which the loader brings from a host that lets no other site import its modules.

import { diagnose, tell } from "./error-state.js";

const script = document.currentScript as (HTMLScriptElement & { arrive?(module: object): void }) | null;
script?.remove();
script?.arrive?.({ diagnose, tell });
