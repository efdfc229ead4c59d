-- Whether the data of a merge job would be longer than 16 MiB, the maximum for data that a client puts.
-- Takes: the number of its payloads; the sum of their lengths in bytes
return function(count, bytes) return bytes + count + 1 > 16777216 end
