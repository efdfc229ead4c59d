# Completion of qless in PowerShell: `qless __complete` says what can be typed.
#
# Its first line is for other shells: PowerShell itself offers files where nothing is printed.

Register-ArgumentCompleter -Native -CommandName 'qless' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    if ($words.Count -eq 0) {
        return
    }
    # The word at the cursor goes behind a sign, since an empty one would get lost.
    & $words[0] __complete powershell @words "=$wordToComplete" 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $text, $name, $help = $_ -split "`t", 3
        if (-not $help) {
            $help = $name
        }
        [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $help)
    }
}
