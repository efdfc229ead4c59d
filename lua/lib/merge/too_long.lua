-- Whether the data of a merge job would be longer than 16 MiB, which a client puts at most.
-- Takes: the number of its payloads; their bytes
return function(count, bytes) return bytes + count + 1 > 16777216 end
