(package_clause (package_identifier) @name) @package
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent.struct
    (generic_type type: (type_identifier) @parent.struct)
    (pointer_type (type_identifier) @parent.struct)
    (pointer_type (generic_type type: (type_identifier) @parent.struct))
  ]))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @talias
(type_spec type: (struct_type (field_declaration_list
  (field_declaration name: (field_identifier) @name) @field)))
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @methodSpec))
(const_spec (identifier) @name) @constant
(var_spec (identifier) @name) @variable
(func_literal) @local
