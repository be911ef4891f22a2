import { readdirSync, readFileSync } from "node:fs"

/** Milliseconds of processor time that a process has had (Linux: the first number of schedstat, of each thread). */
export const processorTime = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const [nanoseconds = "0"] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")
    return sum + Number(nanoseconds) / 1e6
  }, 0)
