-- Returns the outcome of each finding: `found` is repaired, `decide` only if its id is named, `report` never. A
-- word behind an id is a case of it with an outcome of its own. It is one text, which is searched for an id:
-- each call would have to build a table.
return function()
  return [[
    -- entries of a queue without a job, or in the wrong set
    ['ghost-waiting'] = 'found',
    ['ghost-lock'] = 'found',
    ['ghost-scheduled'] = 'found',
    ['ghost-depends'] = 'found',
    ['ghost-recurring'] = 'found',
    ['in-two-sets'] = 'found',
    ['in-two-sets locked'] = 'report',
    ['in-foreign-queue'] = 'found',
    ['in-foreign-queue locked'] = 'report',
    ['in-no-set'] = 'found',
    ['queue-unlisted'] = 'found',
    ['queue-empty'] = 'report',
    ['queue-stuck'] = 'report',
    ['over-limit'] = 'report',
    -- the job itself
    ['job-stub'] = 'found',
    ['job-stub data'] = 'decide',
    ['job-stub part'] = 'report',
    ['job-unreadable'] = 'found',
    ['job-unreadable part'] = 'report',
    ['field-leftover'] = 'decide',
    ['remaining'] = 'report',
    ['score'] = 'found',
    ['clock'] = 'report',
    -- running jobs and their workers
    ['running-without-lock'] = 'found',
    ['running-without-lock ahead'] = 'report',
    ['lock-without-run'] = 'found',
    ['worker-stray'] = 'found',
    ['worker-gap'] = 'found',
    ['worker-gap aged'] = 'report',
    ['worker-unknown'] = 'report',
    -- dependencies
    ['dependency-missing'] = 'decide',
    ['dependency-missing locked'] = 'report',
    ['dependency-complete'] = 'found',
    ['dependency-complete locked'] = 'report',
    ['dependency-one-sided'] = 'found',
    ['dependency-one-sided idle'] = 'decide',
    ['dependency-cycle'] = 'report',
    ['depends-on-nothing'] = 'found',
    ['depends-on-nothing locked'] = 'report',
    ['depends-on-failed'] = 'report',
    -- failures
    ['failed-stray'] = 'found',
    ['failed-unlisted'] = 'found',
    ['failed-twice'] = 'found',
    ['failed-counter'] = 'found',
    ['group-set'] = 'found',
    -- completed, tags, tracked
    ['completed-stray'] = 'found',
    ['completed-stray queue'] = 'report',
    ['completed-unlisted'] = 'found',
    ['completed-unlisted ahead'] = 'report',
    ['tag-index'] = 'found',
    ['tag-count'] = 'found',
    ['tracked-gone'] = 'decide',
    -- recurring jobs
    ['recurring-unscheduled'] = 'decide',
    ['recurring-foreign'] = 'found',
    ['recurring-invalid'] = 'found',
    ['recurring-invalid part'] = 'report',
    ['recurring-count'] = 'found',
    -- keys
    ['key-type'] = 'decide',
    ['key-type job'] = 'report',
    ['key-expires'] = 'found',
    ['key-unknown'] = 'report',
    ['history-orphan'] = 'decide',
    ['edges-orphan'] = 'decide',
    ['lost-key'] = 'decide',
    ['stats-sum'] = 'report',
    ['config-value'] = 'report',
    ['not-judged'] = 'report',
    -- found by the client, because no script can; listed so that a client may pass its id
    ['server-evicts'] = 'report',
  ]]
end
