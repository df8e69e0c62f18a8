(function_declaration name: (identifier) @name) @function
(function_declaration
  name: (dot_index_expression
    table: [(identifier) @parent.table (dot_index_expression field: (identifier) @parent.table)]
    field: (identifier) @name)) @function
(function_declaration
  name: (method_index_expression
    table: [(identifier) @parent.table (dot_index_expression field: (identifier) @parent.table)]
    method: (identifier) @name)) @method
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression
    table: [(identifier) @parent.table (dot_index_expression field: (identifier) @parent.table)]
    field: (identifier) @name))
  (expression_list . value: (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
