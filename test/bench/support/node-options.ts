/** Set by hand to profile what a bench measures: `--cpu-prof`. */
export const nodeOptions = (process.env["BENCH_NODE_OPTIONS"] ?? "").split(" ").filter((option) => option !== "")
