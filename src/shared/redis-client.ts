import { Redis } from "ioredis"

/**
 * Atomic in the server, so that concurrent instances count correctly. Times are Redis's own. Of ARGV[1] requests it
 * counts as many as all buckets have room for, and returns that number and each bucket's count before it.
 */
const script = `
local granted, counts = tonumber(ARGV[1]), {}
for i, key in ipairs(KEYS) do
  local left = redis.call("PTTL", key)
  local count = left > 0 and tonumber(redis.call("GET", key)) or 0
  if left <= 0 then left = tonumber(ARGV[2 * i + 1]) end
  granted = math.max(0, math.min(granted, tonumber(ARGV[2 * i]) - count))
  counts[2 * i], counts[2 * i + 1] = count, left
end
counts[1] = granted
if granted > 0 then
  for i, key in ipairs(KEYS) do redis.call("SET", key, counts[2 * i] + granted, "PX", counts[2 * i + 1]) end
end
return counts`

interface WithScript extends Redis {
  readonly countRequests: (keys: number, ...keysAndLimits: ReadonlyArray<string | number>) => Promise<Array<number>>
}

/**
 * A connection that counts. Imported when it is needed, as a file of ours: a bundle has no names of a CommonJS library
 * that is imported then by itself.
 */
export const redisClient = (url: string) => {
  const redis = new Redis(url, {
    connectionName: "berth",
    // A request does not wait for a reconnect: the caller decides at once what to do without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 100, 2000)
  }) as WithScript
  redis.defineCommand("countRequests", { lua: script })
  return redis
}
