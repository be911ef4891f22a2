const longest = 10 * 60_000

/** Backoff in milliseconds before the next try to get an image: a registry may be down, or lack it temporarily. */
export const pauseBefore = (times: number) => Math.min(longest, 15_000 * 2 ** (times - 1))
