-- Checks that the document of a paused template can be read, and that a resume makes a usable template of it.
-- Takes: jid
local Template = Fields('judge/template_fields')

return function(check)
  local number, names = need('value/number'), {unpack(Template)}
  return function(id)
    local text, wrong = check.ask('hget', Keys.paused_recurring, id)
    if wrong then return check.wrong_type(Keys.paused_recurring, 'hash') end
    if not text then return end
    local function report(what) check.add('recurring-invalid', id, 'paused: ' .. what, {}, 'part') end
    local document, values = need('recurring/paused')(id), {}
    if not document then return report('its document cannot be read') end
    for i = 1, #names do values[i] = document.named[names[i]] end
    check.need('judge/template_fields')(id, values, nil, report)
    local interval, next_run = number(values[Template.interval]), tonumber(document.next)
    if not interval or interval <= 0 then
      report('interval')
    elseif not next_run or next_run < 0 or next_run > check.last_due then
      report('next run at ' .. (document.next or 'no time'))
    end
  end
end
