// Limits processes to a share of a processor, with a control group of the kernel.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Short, so that a limited process does not stand still for long. */
const PERIOD_US = 20_000;

const HOME = "/sys/fs/cgroup";

/** Returns the folder of the processor's control groups and the file with a group's limit, or null if there are none. */
function controller() {
  const controllers = join(HOME, "cgroup.controllers");
  if (existsSync(controllers) && readFileSync(controllers, "utf8").split(/\s/).includes("cpu")) {
    // The root group hands the controller on to its children.
    writeFileSync(join(HOME, "cgroup.subtree_control"), "+cpu");
    return { home: HOME, write: (folder, quota) => writeFileSync(join(folder, "cpu.max"), `${quota} ${PERIOD_US}`) };
  }
  if (!existsSync(join(HOME, "cpu", "cpu.cfs_quota_us"))) return null;
  return {
    home: join(HOME, "cpu"),
    write(folder, quota) {
      writeFileSync(join(folder, "cpu.cfs_period_us"), String(PERIOD_US));
      writeFileSync(join(folder, "cpu.cfs_quota_us"), String(quota));
    },
  };
}

/**
 * Limits a process to a share of a processor, such as 0.25. Returns a function that ends the limit once the process has
 * ended, or null if the kernel or the rights of this user do not allow it.
 */
export function limitCpu(pid, share) {
  try {
    const groups = controller();
    if (!groups) return null;
    const folder = join(groups.home, `chat-widget-bench-${pid}`);
    mkdirSync(folder);
    groups.write(folder, Math.round(share * PERIOD_US));
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
    return () => rmdirSync(folder);
  } catch {
    return null;
  }
}
